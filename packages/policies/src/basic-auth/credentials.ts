import { isUtf8 } from 'node:buffer'

/** Longest Authorization value that is looked at, in bytes. */
const MAX_VALUE_BYTES = 8192
const SCHEME = 'basic '
const PAD = 61

/** The alphabet of base64. Checked by table first, because `atob` would skip blanks, and throws dearly for the rest. */
const BASE64 = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  BASE64[c.charCodeAt(0)] = 1

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
  if (!isBase64(token)) return null
  const bytes = atob(token)
  if (hasControls(bytes)) return null
  return isAscii(bytes) ? bytes : utf8(token)
}

function isBase64(token: string): boolean {
  if (token.length === 0 || token.length % 4 !== 0) return false
  let end = token.length
  if (token.charCodeAt(end - 1) === PAD) end--
  if (token.charCodeAt(end - 1) === PAD) end--
  for (let i = 0; i < end; i++) {
    const code = token.charCodeAt(i)
    if (code > 127 || BASE64[code] === 0) return false
  }
  return true
}

function hasControls(bytes: string): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes.charCodeAt(i)
    if (code < 32 || code === 127) return true
  }
  return false
}

function isAscii(bytes: string): boolean {
  for (let i = 0; i < bytes.length; i++) {
    if (bytes.charCodeAt(i) > 127) return false
  }
  return true
}

/** Bytes that are not UTF-8 are refused, never replaced: two passwords must not become one. */
function utf8(token: string): string | null {
  const bytes = Buffer.from(token, 'base64')
  return isUtf8(bytes) ? bytes.toString('utf8').normalize('NFC') : null
}
