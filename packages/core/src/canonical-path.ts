const UNRESERVED = 1
const OTHER_LEGAL = 2

/** 1: unreserved (RFC 3986 section 2.3), 2: other characters legal in a path segment, and "/". 0: not legal. */
const CLASS = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~')
  CLASS[c.charCodeAt(0)] = UNRESERVED
for (const c of "!$&'()*+,;=:@/") CLASS[c.charCodeAt(0)] = OTHER_LEGAL

const SLASH = 47
const DOT = 46
const PERCENT = 37

/**
 * The one form of a path that routing, conditions and policies see (RFC 3986 section 6.2.2, plus slash merging):
 * escaped unreserved characters are decoded, other escapes get upper-case digits and stay escaped ("%2f" becomes
 * "%2F", never "/"), runs of slashes become one, "." and ".." are resolved and cannot climb above the root.
 * Null when the path is malformed: not beginning with "/", a bad escape, "%00", or a byte that must be escaped.
 *
 * The upstream receives the path as the client wrote it, unless it is ambiguous (see isAmbiguousPath) or rewritten:
 * then it receives the canonical form.
 */
export function canonicalPath(path: string): string | null {
  if (path.charCodeAt(0) !== SLASH) return null
  return isCanonical(path) ? path : canonicalise(path)
}

/**
 * Whether an upstream may take a path for another one than its canonical form, so that a request could be judged as
 * one resource and answered as another. Either it has dot segments, of which RFC 3986 makes "/a/b" where "/a//../b" has
 * the canonical form "/b", and which some servers do not resolve at all; or it begins with two slashes, behind which
 * URL parsers look for a host.
 */
export function isAmbiguousPath(path: string): boolean {
  return /^\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)
}

/** True when nothing would change; false also for malformed paths. One scan, no allocation. */
function isCanonical(path: string): boolean {
  let previous = 0
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code > 127 || CLASS[code] === 0) return false
    if (previous === SLASH && (code === SLASH || code === DOT)) return false
    previous = code
  }
  return true
}

function canonicalise(path: string): string | null {
  const decoded = decodeUnreserved(path)
  return decoded === null ? null : resolveDots(decoded)
}

function decodeUnreserved(path: string): string | null {
  let out = ''
  let from = 0
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code === PERCENT) {
      const byte = hexByte(path, i + 1)
      if (byte <= 0) return null
      const plain = byte < 128 && CLASS[byte] === UNRESERVED
      out += path.slice(from, i) + (plain ? String.fromCharCode(byte) : path.slice(i, i + 3).toUpperCase())
      from = i + 3
      i += 2
    } else if (code > 127 || CLASS[code] === 0) {
      return null
    }
  }
  return out + path.slice(from)
}

/** The value of two hexadecimal digits, or -1. */
function hexByte(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at))
  const low = hexDigit(text.charCodeAt(at + 1))
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  if (code >= 65 && code <= 70) return code - 55
  if (code >= 97 && code <= 102) return code - 87
  return -1
}

/** Merges slashes and removes dot segments; a trailing "." or ".." leaves a trailing slash (RFC 3986 section 5.2.4). */
function resolveDots(path: string): string {
  const kept: string[] = []
  let isDirectory = false
  let start = 1
  while (start <= path.length) {
    let end = path.indexOf('/', start)
    if (end === -1) end = path.length
    const segment = path.slice(start, end)
    isDirectory = segment === '' || segment === '.' || segment === '..'
    if (segment === '..') kept.pop()
    else if (!isDirectory) kept.push(segment)
    start = end + 1
  }
  if (kept.length === 0) return '/'
  return `/${kept.join('/')}${isDirectory ? '/' : ''}`
}
