/**
 * Anything but printable ASCII without the quote and the backslash. A regular expression on the request path, because
 * it reads a unit in 2 ns where a loop over charCodeAt takes 4 (105 units: 206 ns against 397 ns).
 */
const UNSAFE = /[^ -!#-[\]-~]/
const UNSAFE_UNITS = /[^ -!#-[\]-~]/g

/**
 * The inside of a JSON string, without the quotes. Whatever is not printable ASCII becomes `\uXXXX`, so that a record
 * is as long in bytes as in characters, holds no control character that a terminal would obey, and keeps lone
 * surrogates. Nearly every text is plain, so it is scanned first and returned as it is.
 */
export function jsonText(text: string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_UNITS, escapeOf) : text
}

function escapeOf(unit: string): string {
  if (unit === '"') return '\\"'
  if (unit === '\\') return '\\\\'
  return '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')
}
