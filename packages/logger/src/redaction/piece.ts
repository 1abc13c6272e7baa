/** A part of a text that was redacted. */
export interface Piece {
  readonly text: string
  /** What a rule put there; no other rule looks into it, because a hash may happen to look like a value. */
  readonly isOpaque: boolean
}

/** The text that pieces make. */
export function textOf(pieces: readonly Piece[]): string {
  let text = ''
  for (const piece of pieces) text += piece.text
  return text
}

/** A piece that other rules may look into. */
export function open(text: string): Piece {
  return { text, isOpaque: false }
}
