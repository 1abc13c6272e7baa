import type { BodyView } from '@sluice/core'
import type { XmlDocument } from 'libxml2-wasm'
import type { XmlShape } from './scan.js'

/** A parsed document. Its memory is not garbage-collected: `close` releases it. */
export class XmlView implements BodyView {
  readonly shape: XmlShape
  #document: XmlDocument | null
  readonly #release: () => void

  constructor(document: XmlDocument, shape: XmlShape, release: () => void) {
    this.#document = document
    this.shape = shape
    this.#release = release
  }

  /** The parsed document. Other readers share it, so do not modify it. @throws Error after `close` */
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
