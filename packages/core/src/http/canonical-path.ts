const UNRESERVED = 1
const OTHER_LEGAL = 2
const ESCAPED_HERE = 3

/** Matches overlong UTF-8 encodings of up to six bytes (RFC 3629 section 3), for example of "/" or ".". */
const OVERLONG = /%c[01]%[89ab]|%e0%[89]|%f0%8|%f8%8[0-7]|%fc%8[0-3]/i

/**
 * Class of each ASCII character. 0: rejected. Otherwise:
 * - `UNRESERVED`: RFC 3986 section 2.3
 * - `OTHER_LEGAL`: other characters allowed in a path, including "/"
 * - `ESCAPED_HERE`: not allowed, but sent unescaped by clients (URL Standard, path percent-encode set)
 */
const CLASS = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~')
  CLASS[c.charCodeAt(0)] = UNRESERVED
for (const c of "!$&'()*+,;=:@/") CLASS[c.charCodeAt(0)] = OTHER_LEGAL
for (const c of '[]|^{}"<>`') CLASS[c.charCodeAt(0)] = ESCAPED_HERE

/** 1 for characters that are allowed in a path and have no special meaning: all except "%" and ";". */
const PLAIN = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const isLegal = CLASS[code] === UNRESERVED || CLASS[code] === OTHER_LEGAL
  PLAIN[code] = isLegal && code !== 59 ? 1 : 0
}

/** Escapes of reserved characters that are allowed unescaped in a segment, except ";". */
const RESERVED_ESCAPES = /%(?:2[1467-9A-C]|3[AD]|40)/gi

const SLASH = 47
const DOT = 46
const PERCENT = 37

/**
 * Returns the canonical form of a path, which routes, conditions and policies match. Null if the path is
 * malformed.
 *
 * The canonical form is the forwardable form with reserved characters decoded where a segment allows them
 * (RFC 3986 section 3.3), as upstreams do before they choose a resource: "%24" becomes "$". "%2F" stays
 * escaped. "%3B" also does, because ";" would start path parameters.
 */
export function canonicalPath(path: string): string | null {
  const forwardable = forwardablePath(path)
  return forwardable === null ? null : decodeReserved(forwardable)
}

/**
 * Returns the form of a path that is sent to upstreams (RFC 3986 section 6.2.2, plus slash merging). Null if
 * the path is malformed: no leading "/", an invalid escape, "%00", an overlong UTF-8 sequence, or another
 * byte that must be escaped.
 *
 * - Escaped unreserved characters are decoded.
 * - Other escapes are kept, with upper-case digits ("%2f" becomes "%2F").
 * - Characters that clients leave unescaped are escaped ("[" becomes "%5B").
 * - Repeated slashes are merged.
 * - "." and ".." are resolved and cannot go above the root.
 */
export function forwardablePath(path: string): string | null {
  return isPlainPath(path) ? path : normalise(path)
}

/** Decodes the escapes of "! $ & ' ( ) * + , : = @" in a path or part of a path. */
export function decodeReserved(path: string): string {
  if (!path.includes('%')) return path
  return path.replace(RESERVED_ESCAPES, (code) => String.fromCharCode(hexByte(code, 1)))
}

/** Escapes the characters that clients leave unescaped in a path. Changes nothing else. */
export function escapeRawCharacters(path: string): string {
  return path.replace(/[[\]|^{}"<>`]/g, (char) => escapeOf(char.charCodeAt(0)))
}

/**
 * Returns true if every server interprets the path the same way: it is canonical, without escapes or path
 * parameters. False for malformed paths. Scans once without allocation.
 */
export function isPlainPath(path: string): boolean {
  if (path.charCodeAt(0) !== SLASH) return false
  let previous = 0
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code > 127 || PLAIN[code] === 0) return false
    if (previous === SLASH && (code === SLASH || code === DOT)) return false
    previous = code
  }
  return true
}

/**
 * Returns true if an upstream might interpret a path differently from its canonical form. That is the case
 * for:
 * - dot segments: RFC 3986 resolves "/a//../b" to "/a/b", but its canonical form is "/b", and some servers do
 * not resolve dot segments
 * - two leading slashes: URL parsers expect a host after them
 */
export function isAmbiguousPath(path: string): boolean {
  return /^\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)
}

/**
 * Returns true if a canonical path contains an escaped "/" or "\\". Some servers decode them before routing.
 */
export function hasEncodedSlash(canonical: string): boolean {
  return /%2F|%5C/.test(canonical)
}

/**
 * Returns true if a canonical path contains a dot segment for servers that first decode slashes or remove
 * path parameters, as in "/a/..;/b" or "/a/..%2Fb".
 */
export function hasHiddenDots(canonical: string): boolean {
  return /(?:\/|%2F|%5C)\.{1,2}(?:\/|%2F|%5C|;|%3B|$)/.test(canonical)
}

/**
 * Returns true if a canonical path contains nothing that servers are known to interpret differently: no ";",
 * no escaped "/", "\\", ";" or control character, and nothing escaped twice.
 */
export function isStrictPath(canonical: string): boolean {
  return !/;|%(?:2F|5C|3B|7F|[01][0-9A-F]|25[0-9A-Fa-f]{2})/.test(canonical)
}

/**
 * Removes the path parameters of all segments, as servlet containers do for matching. "/a;v=1/b" and
 * "/a/;v=1/b" become "/a/b".
 */
export function withoutParameters(canonical: string): string {
  if (!canonical.includes(';') && !canonical.includes('%3B')) return canonical
  return canonical.replace(/(?:;|%3B)[^/]*/g, '').replace(/\/{2,}/g, '/')
}

/** Returns the forwardable path of a request, including the path parameters that `path` lacks. */
export function pathWithParameters(x: { readonly path: string; readonly rawPath: string }): string {
  return x.rawPath === x.path ? x.path : (forwardablePath(x.rawPath) ?? x.path)
}

function normalise(path: string): string | null {
  if (path.charCodeAt(0) !== SLASH || OVERLONG.test(path)) return null
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
    } else if (CLASS[code] === ESCAPED_HERE) {
      out += path.slice(from, i) + escapeOf(code)
      from = i + 1
    }
  }
  return out + path.slice(from)
}

function escapeOf(code: number): string {
  return `%${code.toString(16).toUpperCase()}`
}

/** Returns the value of two hexadecimal digits, or -1. */
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

/**
 * Merges slashes and removes dot segments. A trailing "." or ".." leaves a trailing slash (RFC 3986 section
 * 5.2.4).
 */
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
