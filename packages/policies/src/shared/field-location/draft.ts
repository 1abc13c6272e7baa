import { type Exchange, type HeaderList, hasContentCoding, setHeader, UnreadableBody } from '@sluice/core'
import { codingIssue } from '../../engines/json/coding.js'
import { jsonOf } from '../../engines/json/view.js'
import { forgetBytes } from '../body-fields.js'
import { headersOf, type Side, setBody } from '../message/side.js'

const EMPTY = new Uint8Array(0)

/**
 * A message while locations of it are read and written. A JSON body stays a text until the end, so that several changes
 * cost one decoding and one encoding.
 */
export class Draft {
  readonly x: Exchange
  readonly side: Side
  readonly headers: HeaderList
  #body: Uint8Array
  #json: string | null = null
  #isChanged = false
  #written: Set<string> | null = null

  /** @param body null where no location is in the body. */
  constructor(x: Exchange, side: Side, body: Uint8Array | null) {
    this.x = x
    this.side = side
    this.headers = headersOf(x, side)
    this.#body = body ?? EMPTY
  }

  /** @throws UnreadableBody when it is in a content coding. */
  get body(): Uint8Array {
    this.#assertPlain()
    if (this.#isChanged && this.#json !== null) this.#body = Buffer.from(this.#json)
    return this.#body
  }

  set body(bytes: Uint8Array) {
    this.#body = bytes
    this.#json = null
    this.#isChanged = true
  }

  /** The body as the text of a JSON document. @throws UnreadableBody when it is none. */
  get json(): string {
    if (this.#json !== null) return this.#json
    const flaw = codingIssue(this.headers)
    if (flaw !== null) throw new UnreadableBody('GW_MEDIA_TYPE', `the ${this.side} body ${flaw}`)
    // The one parse of the body says that it is JSON; the text is what locations are found in.
    jsonOf(this.x, this.#body)
    this.#json = Buffer.from(this.#body.buffer, this.#body.byteOffset, this.#body.byteLength).toString()
    return this.#json
  }

  set json(text: string) {
    this.#json = text
    this.#isChanged = true
  }

  /** Writes a field, which then says what the document wants it to say, whatever becomes of the body. */
  setField(name: string, value: string): void {
    setHeader(this.headers, name, value)
    this.#written ??= new Set()
    this.#written.add(name)
  }

  /**
   * Puts a changed body in the place of the old one, and takes away what was said about the bytes of that. Only now:
   * until here the fields are about the message as it came, which is what its signatures were made over.
   */
  commit(): void {
    if (!this.#isChanged) return
    const { body } = this
    forgetBytes(this.headers, this.#written)
    setBody(this.x, this.side, body)
  }

  #assertPlain(): void {
    if (!hasContentCoding(this.headers)) return
    throw new UnreadableBody('GW_MEDIA_TYPE', `the ${this.side} body is in a content coding; send it plain`)
  }
}
