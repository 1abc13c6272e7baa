import { isUtf8 } from 'node:buffer'
import { decode } from '../../shared/encoding/byte-text.js'
import { hasControls } from './consumer-entry.js'

/** Maximum length of a token in bytes. */
const MAX_TOKEN_BYTES = 8192
const SCHEME = 'basic '

/**
 * Returns the base64 token of an Authorization value with the Basic scheme, or null for another scheme. The scheme is
 * case-insensitive.
 */
export function basicToken(value: string): string | null {
  if (value.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  let start = SCHEME.length
  while (value.charCodeAt(start) === 32) start++
  return value.slice(start)
}

/** A name and a password, both non-empty. */
export interface Credentials {
  readonly name: string
  readonly password: string
}

/**
 * Decodes a Basic token (RFC 7617 section 2). Returns null if it is too long, not base64, not UTF-8, has control
 * characters, or lacks the name or the password. Decoding costs more than a digest, so callers that cache by digest
 * skip it.
 */
export function parseBasicToken(token: string): Credentials | null {
  if (token.length > MAX_TOKEN_BYTES) return null
  const bytes = decode(token, 'base64')
  // Bytes that are not UTF-8 are refused, never replaced, so that no two passwords become equal.
  if (bytes === null || !isUtf8(bytes)) return null
  const text = bytes.toString('utf8').normalize('NFC')
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1 || hasControls(text)) return null
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
