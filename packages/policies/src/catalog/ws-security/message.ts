import type { XmlDocument, XmlElement } from 'libxml2-wasm'
import { parseXml } from '../../engines/xml/gate.js'
import { DEFAULT_DEPTH, XML_LIMITS } from '../../engines/xml/limits.js'
import type { XmlView } from '../../engines/xml/view.js'
import { type Envelope, readEnvelope, securityHeader } from './envelope.js'

const LIMITS = { ...XML_LIMITS, maxDepth: DEFAULT_DEPTH }

/** A message on its way through this policy, as a document that may be changed when it is our own. */
export class Message {
  #view: XmlView
  #isOwn: boolean
  #envelope: Envelope | null = null
  /** Whether the document says something else than the bytes it came from. */
  #isChanged = false

  private constructor(view: XmlView, isOwn: boolean) {
    this.#view = view
    this.#isOwn = isOwn
  }

  /** A document that others read too. */
  static shared(view: XmlView): Message {
    return new Message(view, false)
  }

  /** A document of our own. @throws UnreadableBody */
  static parsed(body: Uint8Array): Message {
    return new Message(parseXml(body, LIMITS), true)
  }

  get document(): XmlDocument {
    return this.#view.document
  }

  /** @throws SecurityFault when it is no SOAP */
  get envelope(): Envelope {
    this.#envelope ??= readEnvelope(this.document)
    return this.#envelope
  }

  /** The Security header for that actor. @throws SecurityFault when there are several */
  security(actor: string): XmlElement | null {
    return securityHeader(this.envelope, actor)
  }

  /** Notes a change of the document. */
  touch(): void {
    if (!this.#isOwn) throw new Error('a document that others read was changed')
    this.#isChanged = true
  }

  /** Goes on with another document. @throws UnreadableBody */
  rewrite(bytes: Uint8Array): void {
    const view = parseXml(bytes, LIMITS)
    this.close()
    this.#view = view
    this.#isOwn = true
    this.#envelope = null
    this.#isChanged = true
  }

  /** The bytes to send on; null when nothing has changed. */
  written(): Buffer | null {
    return this.#isChanged ? Buffer.from(this.document.toString({ format: false })) : null
  }

  /** Gives up a document of our own. */
  close(): void {
    if (this.#isOwn) this.#view.close()
  }
}
