import { open, type Piece } from './piece.js'

interface Edit {
  readonly start: number
  readonly end: number
  readonly pieces: readonly Piece[]
}

/** Changes of a text, from its beginning to its end. */
export class Edits {
  readonly #text: string
  readonly #edits: Edit[] = []
  #end = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Where the last change ended. */
  get end(): number {
    return this.#end
  }

  /** Puts pieces in the place of a part of the text that begins where the last change ended, or after it. */
  replace(start: number, end: number, pieces: readonly Piece[]): void {
    this.#edits.push({ start: Math.max(start, this.#end), end, pieces })
    this.#end = end
  }

  /** The changed text, or null when nothing has changed. */
  pieces(): readonly Piece[] | null {
    if (this.#edits.length === 0) return null
    const all: Piece[] = []
    let at = 0
    for (const { start, end, pieces } of this.#edits) {
      if (start > at) all.push(open(this.#text.slice(at, start)))
      for (const piece of pieces) all.push(piece)
      at = end
    }
    if (at < this.#text.length) all.push(open(this.#text.slice(at)))
    return all
  }
}
