import type { BodyView } from '@sluice/core'
import type { XmlDocument } from 'libxml2-wasm'
import type { XmlShape } from './scan.js'

/** A document that went through the gate. Its memory is not the garbage collector's: `close` gives it back. */
export class XmlView implements BodyView {
  readonly shape: XmlShape
  #document: XmlDocument | null
  readonly #release: () => void

  constructor(document: XmlDocument, shape: XmlShape, release: () => void) {
    this.#document = document
    this.shape = shape
    this.#release = release
  }

  /** The parsed document, which others read too: leave it as you found it. @throws Error after `close` */
  get document(): XmlDocument {
    if (this.#document === null) throw new Error('the document is closed; do not keep it beyond its exchange')
    return this.#document
  }

  close(): void {
    if (this.#document === null) return
    this.#document.dispose()
    this.#document = null
    this.#release()
  }
}
