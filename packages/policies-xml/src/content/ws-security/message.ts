import type { XmlDocument, XmlElement } from 'libxml2-wasm'
import { parseXml } from '../../engines/xml/gate.js'
import { DEFAULT_DEPTH, XML_LIMITS } from '../../engines/xml/limits.js'
import type { XmlView } from '../../engines/xml/view.js'
import { type Envelope, readEnvelope, securityHeader } from './envelope.js'

const LIMITS = { ...XML_LIMITS, maxDepth: DEFAULT_DEPTH }

/** A message being processed. Its document may be changed only if it is not shared. */
export class Message {
  #view: XmlView
  #isOwn: boolean
  #envelope: Envelope | null = null
  /** True if the document differs from the received bytes. */
  #isChanged = false

  private constructor(view: XmlView, isOwn: boolean) {
    this.#view = view
    this.#isOwn = isOwn
  }

  /** Creates a message from a document shared with other policies. */
  static shared(view: XmlView): Message {
    return new Message(view, false)
  }

  /** Parses a message. @throws UnreadableBody */
  static parsed(body: Uint8Array): Message {
    return new Message(parseXml(body, LIMITS), true)
  }

  get document(): XmlDocument {
    return this.#view.document
  }

  /** @throws SecurityFault if it is not SOAP */
  get envelope(): Envelope {
    this.#envelope ??= readEnvelope(this.document)
    return this.#envelope
  }

  /** Returns the Security header for an actor. @throws SecurityFault for several */
  security(actor: string): XmlElement | null {
    return securityHeader(this.envelope, actor)
  }

  /** Records a change of the document. */
  touch(): void {
    if (!this.#isOwn) throw new Error('a shared document was changed')
    this.#isChanged = true
  }

  /** Replaces the document. @throws UnreadableBody */
  rewrite(bytes: Uint8Array): void {
    const view = parseXml(bytes, LIMITS)
    this.close()
    this.#view = view
    this.#isOwn = true
    this.#envelope = null
    this.#isChanged = true
  }

  /** Returns the changed message, or null if nothing has changed. */
  written(): Buffer | null {
    return this.#isChanged ? Buffer.from(this.document.toString({ format: false })) : null
  }

  /** Releases the document unless it is shared. */
  close(): void {
    if (this.#isOwn) this.#view.close()
  }
}
