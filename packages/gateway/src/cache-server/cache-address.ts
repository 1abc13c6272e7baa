/** Location of an entry: a space, and a key with one byte per character. */
export interface CacheAddress {
  readonly space: string
  readonly key: string
}

const ROOT = '/v1/cache/'
const SPACE = /^[A-Za-z0-9._-]{1,64}$/
/** Maximum key length in bytes after decoding. */
export const MAX_KEY_BYTES = 1024
/** Matches dot segments, which clients and servers in between might resolve. */
const DOT_SEGMENT = /(^|\/)\.{1,2}(\/|$)/

/**
 * Parses a path `/v1/cache/{space}/{key}`. The key is everything after the space, decoded once, and may
 * contain slashes. Returns null if the path is invalid.
 *
 * @param path path as received.
 */
export function readCacheAddress(path: string): CacheAddress | null {
  if (!path.startsWith(ROOT)) return null
  const slash = path.indexOf('/', ROOT.length)
  if (slash < 0) return null
  const space = path.slice(ROOT.length, slash)
  const key = decodePercent(path.slice(slash + 1))
  if (key === null || key === '' || key.length > MAX_KEY_BYTES || !isSpaceName(space)) return null
  return key.includes('.') && DOT_SEGMENT.test(key) ? null : { space, key }
}

/** Returns true for a valid space name: letters, digits, `.`, `_` and `-`, but not only dots. */
export function isSpaceName(text: string): boolean {
  return SPACE.test(text) && text !== '.' && text !== '..'
}

/**
 * Decodes percent-encoding into bytes, one per character (RFC 3986, 2.1). Returns null if an escape is
 * incomplete.
 */
export function decodePercent(text: string): string | null {
  if (!text.includes('%')) return text
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null
  return text.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
