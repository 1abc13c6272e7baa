/**
 * Copies a Latin-1 string into one flat piece of memory. A slice would keep the whole original string alive,
 * and a concatenated string is traversed piece by piece whenever it is copied.
 */
export function flattenString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/**
 * Returns V8's internalized copy of a string. Equal internalized strings are one object, so comparing them,
 * or one of them with a literal, compares pointers. The result is also flat. Interning costs a lookup, so use
 * it only for strings that are kept.
 */
export function internString(text: string): string {
  return Object.keys({ [text]: true })[0]!
}
