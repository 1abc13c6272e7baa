/**
 * Matches all characters except printable ASCII without quote and backslash. A regular expression is allowed
 * on the request path here because it is faster than a loop over charCodeAt (206 ns instead of 397 ns for 105
 * units).
 */
const UNSAFE = /[^ -!#-[\]-~]/
const UNSAFE_UNITS = /[^ -!#-[\]-~]/g

/**
 * Returns the content of a JSON string, without quotes. All characters except printable ASCII become
 * `\uXXXX`. A record therefore has as many bytes as characters, contains no terminal control characters, and
 * preserves lone surrogates. Most text needs no escaping, so it is tested first and returned unchanged.
 */
export function jsonText(text: string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_UNITS, escapeOf) : text
}

function escapeOf(unit: string): string {
  if (unit === '"') return '\\"'
  if (unit === '\\') return '\\\\'
  return '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')
}
