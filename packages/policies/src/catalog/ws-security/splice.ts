import { randomBytes } from 'node:crypto'
import type { XmlDocument } from 'libxml2-wasm'

/**
 * Locations in a document that are filled in as text when it is written out: the tree holds a random word in each, which
 * nobody can have put into the message.
 */
export class Splice {
  readonly #word = `splice-${randomBytes(16).toString('hex')}`
  readonly #contents: string[] = []

  get isEmpty(): boolean {
    return this.#contents.length === 0
  }

  /** A word to put into the tree, which `write` exchanges for the text. */
  mark(content: string): string {
    this.#contents.push(content)
    return `${this.#word}-${this.#contents.length - 1};`
  }

  /** The document with every mark exchanged for its text. */
  write(document: XmlDocument): Buffer {
    const text = document.toString({ format: false })
    const mark = new RegExp(`${this.#word}-(\\d+);`, 'g')
    return Buffer.from(text.replaceAll(mark, (_, at: string) => this.#contents[Number(at)]!))
  }
}
