/**
 * The same text of one byte a character in one piece of its own: a part of a text keeps the whole of it in memory, and
 * what was put together from parts is gone through part by part whenever it is copied.
 */
export function textOfItsOwn(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/**
 * The same text as V8 keeps names of properties, of which there is one for all that are equal: a comparison with another
 * such text, or with a literal, compares two addresses. In one piece of its own, too. It costs a look-up, so it is for
 * what is kept.
 */
export function internalized(text: string): string {
  return Object.keys({ [text]: true })[0]!
}
