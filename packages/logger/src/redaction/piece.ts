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
