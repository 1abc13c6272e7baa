import { isUtf8 } from 'node:buffer'
import { decode } from '../encoding/byte-text.js'
import { hasControls } from './controls.js'

/** Longest token that is decoded, in bytes. */
const MAX_TOKEN_BYTES = 8192
const SCHEME = 'basic '

/**
 * What follows the scheme in an Authorization value of the Basic scheme, compared without case: base64, still to be
 * decoded. Null for another scheme.
 */
export function basicToken(value: string): string | null {
  if (value.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  let start = SCHEME.length
  while (value.charCodeAt(start) === 32) start++
  return value.slice(start)
}

/** A name and a password, neither of them empty. */
export interface Credentials {
  readonly name: string
  readonly password: string
}

/**
 * The credentials of a Basic token (RFC 7617, 2), or null when it is too long, not base64, not UTF-8, has control
 * characters, or lacks the name or the password. Decoding costs more than a digest: who has remembered the token's
 * digest does without.
 */
export function parseBasicToken(token: string): Credentials | null {
  if (token.length > MAX_TOKEN_BYTES) return null
  const bytes = decode(token, 'base64')
  // Bytes that are not UTF-8 are refused, never replaced: two passwords must not become one.
  if (bytes === null || !isUtf8(bytes)) return null
  const text = bytes.toString('utf8').normalize('NFC')
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1 || hasControls(text)) return null
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
