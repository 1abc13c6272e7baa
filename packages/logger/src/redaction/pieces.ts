/** A part of a redacted text. */
export interface Piece {
  readonly text: string
  /** True if a rule inserted the text. Other rules skip it, because a hash may look like a value. */
  readonly isOpaque: boolean
}

/** Returns the text of the pieces. */
export function textOf(pieces: readonly Piece[]): string {
  let text = ''
  for (const piece of pieces) text += piece.text
  return text
}

/** Creates a piece that other rules may examine. */
export function openPiece(text: string): Piece {
  return { text, isOpaque: false }
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly pieces: readonly Piece[]
}

/** Replacements in a text, in order from its beginning to its end. */
export class Edits {
  readonly #text: string
  readonly #edits: Edit[] = []
  #end = 0

  constructor(text: string) {
    this.#text = text
  }

  /** End of the last replacement in the original text. */
  get end(): number {
    return this.#end
  }

  /** Replaces a part of the text, which must not start before the end of the last replacement. */
  replace(start: number, end: number, pieces: readonly Piece[]): void {
    this.#edits.push({ start: Math.max(start, this.#end), end, pieces })
    this.#end = end
  }

  /** Returns the edited text, or null if there were no replacements. */
  pieces(): readonly Piece[] | null {
    if (this.#edits.length === 0) return null
    const all: Piece[] = []
    let at = 0
    for (const { start, end, pieces } of this.#edits) {
      if (start > at) all.push(openPiece(this.#text.slice(at, start)))
      for (const piece of pieces) all.push(piece)
      at = end
    }
    if (at < this.#text.length) all.push(openPiece(this.#text.slice(at)))
    return all
  }
}
