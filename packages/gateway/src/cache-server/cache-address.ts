/** Where an entry is: a space, and a key of one byte a character. */
export interface CacheAddress {
  readonly space: string
  readonly key: string
}

const ROOT = '/v1/cache/'
const SPACE = /^[A-Za-z0-9._-]{1,64}$/
/** Longest key, in bytes after decoding. */
export const MAX_KEY_BYTES = 1024
/** Segments that servers and clients in between would take for steps upwards. */
const DOT_SEGMENT = /(^|\/)\.{1,2}(\/|$)/

/**
 * What a path names, `/v1/cache/{space}/{key}`: the key is all that follows, decoded once, and may have slashes of its
 * own. Null: it names nothing.
 *
 * @param path as received.
 */
export function readCacheAddress(path: string): CacheAddress | null {
  if (!path.startsWith(ROOT)) return null
  const slash = path.indexOf('/', ROOT.length)
  if (slash < 0) return null
  const space = path.slice(ROOT.length, slash)
  const key = bytesOfEscapes(path.slice(slash + 1))
  if (key === null || key === '' || key.length > MAX_KEY_BYTES || !isSpaceName(space)) return null
  return key.includes('.') && DOT_SEGMENT.test(key) ? null : { space, key }
}

/** Letters, digits, `.`, `_` and `-`, and no dots alone. */
export function isSpaceName(text: string): boolean {
  return SPACE.test(text) && text !== '.' && text !== '..'
}

/** The bytes that a percent-encoded text stands for, one a character (RFC 3986, 2.1); null: an escape is not whole. */
export function bytesOfEscapes(text: string): string | null {
  let at = text.indexOf('%')
  if (at < 0) return text
  let decoded = ''
  let from = 0
  while (at >= 0) {
    const hex = text.slice(at + 1, at + 3)
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return null
    decoded += text.slice(from, at) + String.fromCharCode(Number.parseInt(hex, 16))
    from = at + 3
    at = text.indexOf('%', from)
  }
  return decoded + text.slice(from)
}
