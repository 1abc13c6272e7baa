import { randomBytes } from 'node:crypto'
import type { XmlDocument } from 'libxml2-wasm'

/**
 * Placeholders in a document that are replaced with text during serialization. Each contains a random word
 * that cannot occur in the message.
 */
export class Splice {
  readonly #word = `splice-${randomBytes(16).toString('hex')}`
  readonly #contents: string[] = []

  get isEmpty(): boolean {
    return this.#contents.length === 0
  }

  /** Returns a placeholder for the tree, which `write` replaces with the text. */
  mark(content: string): string {
    this.#contents.push(content)
    return `${this.#word}-${this.#contents.length - 1};`
  }

  /** Serializes the document with all placeholders replaced. */
  write(document: XmlDocument): Buffer {
    const text = document.toString({ format: false })
    const mark = new RegExp(`${this.#word}-(\\d+);`, 'g')
    return Buffer.from(text.replaceAll(mark, (_, at: string) => this.#contents[Number(at)]!))
  }
}
