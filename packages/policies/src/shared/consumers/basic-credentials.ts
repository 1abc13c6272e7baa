import { isUtf8 } from 'node:buffer'
import { decode } from '../encoding/byte-text.js'

/** Longest Authorization value that is looked at, in bytes. */
const MAX_VALUE_BYTES = 8192
const SCHEME = 'basic '
const CONTROLS = /[\x00-\x1f\x7f]/

/** Whether an Authorization value is of the Basic scheme, compared without case. */
export function isBasic(value: string): boolean {
  return value.slice(0, SCHEME.length).toLowerCase() === SCHEME
}

/**
 * `user:password` out of an Authorization value of the Basic scheme (RFC 7617), or null when it is too long, not
 * base64, not UTF-8, or has control characters.
 */
export function basicCredentials(value: string): string | null {
  if (value.length > MAX_VALUE_BYTES) return null
  let start = SCHEME.length
  while (value.charCodeAt(start) === 32) start++
  const token = value.slice(start)
  const bytes = decode(token, 'base64')
  // Bytes that are not UTF-8 are refused, never replaced: two passwords must not become one.
  if (bytes === null || bytes.length === 0 || !isUtf8(bytes)) return null
  const text = bytes.toString('utf8')
  return CONTROLS.test(text) ? null : text.normalize('NFC')
}
