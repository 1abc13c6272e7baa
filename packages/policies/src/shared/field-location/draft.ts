import { type Exchange, type HeaderList, hasContentCoding, setHeader, UnreadableBody } from '@sluice/core'
import { codingIssue } from '../json/coding.js'
import { jsonOf } from '../json/view.js'
import { removeByteHeaders } from '../message/body-fields.js'
import { headersOf, type Side, setBody } from '../message/side.js'

const EMPTY = new Uint8Array(0)

/**
 * A message while its locations are read and written. A JSON body stays text until the end, so that several changes
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

  /** Starts a draft. @param body null if no location is in the body. */
  constructor(x: Exchange, side: Side, body: Uint8Array | null) {
    this.x = x
    this.side = side
    this.headers = headersOf(x, side)
    this.#body = body ?? EMPTY
  }

  /** The body. @throws UnreadableBody if it has a content coding. */
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

  /** The body as JSON text. @throws UnreadableBody if it is not JSON. */
  get json(): string {
    if (this.#json !== null) return this.#json
    const issue = codingIssue(this.headers)
    if (issue !== null) throw new UnreadableBody('GW_MEDIA_TYPE', `the ${this.side} body ${issue}`)
    // The cached view validates the JSON; locations are found in the text.
    jsonOf(this.x, this.#body)
    this.#json = Buffer.from(this.#body.buffer, this.#body.byteOffset, this.#body.byteLength).toString()
    return this.#json
  }

  set json(text: string) {
    this.#json = text
    this.#isChanged = true
  }

  /** Sets a header that replacing the body must not remove. */
  setField(name: string, value: string): void {
    setHeader(this.headers, name, value)
    this.#written ??= new Set()
    this.#written.add(name)
  }

  /**
   * Replaces a changed body and removes the headers that describe the old bytes. The headers stay until then,
   * because signatures were made over them.
   */
  commit(): void {
    if (!this.#isChanged) return
    const { body } = this
    removeByteHeaders(this.headers, this.#written)
    setBody(this.x, this.side, body)
  }

  #assertPlain(): void {
    if (!hasContentCoding(this.headers)) return
    throw new UnreadableBody(
      'GW_MEDIA_TYPE',
      `the ${this.side} body has a content coding; send it without content-encoding`,
    )
  }
}
