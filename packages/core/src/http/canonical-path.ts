const UNRESERVED = 1
const OTHER_LEGAL = 2
const ESCAPED_HERE = 3

/** A character, "/" and the dot among them, written in more bytes than it needs (RFC 3629 section 3), up to six. */
const OVERLONG = /%c[01]%[89ab]|%e0%[89]|%f0%8|%f8%8[0-7]|%fc%8[0-3]/i

/**
 * 1: unreserved (RFC 3986 section 2.3), 2: other characters legal in a path segment, and "/", 3: not legal, but sent
 * unescaped by clients (URL Standard, path percent-encode set). 0: refused.
 */
const CLASS = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~')
  CLASS[c.charCodeAt(0)] = UNRESERVED
for (const c of "!$&'()*+,;=:@/") CLASS[c.charCodeAt(0)] = OTHER_LEGAL
for (const c of '[]|^{}"<>`') CLASS[c.charCodeAt(0)] = ESCAPED_HERE

/** 1: legal in a path and meaning nothing but itself, so neither "%" nor ";". */
const PLAIN = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const isLegal = CLASS[code] === UNRESERVED || CLASS[code] === OTHER_LEGAL
  PLAIN[code] = isLegal && code !== 59 ? 1 : 0
}

/** Escapes of reserved characters that a segment may hold unescaped, all but ";". */
const RESERVED_ESCAPES = /%(?:2[1467-9A-C]|3[AD]|40)/gi

const SLASH = 47
const DOT = 46
const PERCENT = 37

/**
 * The one form of a path that routes, conditions and policies match: the forwardable form, with the escapes of all
 * characters decoded that need none in a segment (RFC 3986 section 3.3), as upstreams do before they choose a resource:
 * "%24" becomes "$". "%2F" stays, and so does "%3B": a ";" would begin path parameters. Null when the path is malformed.
 */
export function canonicalPath(path: string): string | null {
  const forwardable = forwardablePath(path)
  return forwardable === null ? null : decodeReserved(forwardable)
}

/**
 * The form of a path that upstreams get (RFC 3986 section 6.2.2, plus slash merging): escaped unreserved characters are
 * decoded, other escapes get upper-case digits and stay escaped ("%2f" becomes "%2F", "%24" stays), what clients leave
 * unescaped is escaped ("[" becomes "%5B"), runs of slashes become one, "." and ".." are resolved and cannot climb above
 * the root. Null when the path is malformed: not beginning with "/", a bad escape, "%00", an overlong UTF-8 sequence, or
 * another byte that must be escaped.
 */
export function forwardablePath(path: string): string | null {
  return isPlainPath(path) ? path : normalise(path)
}

/** Decodes the escapes of "! $ & ' ( ) * + , : = @" in a path or a part of one. */
export function decodeReserved(path: string): string {
  if (!path.includes('%')) return path
  return path.replace(RESERVED_ESCAPES, (code) => String.fromCharCode(hexByte(code, 1)))
}

/** Escapes the characters that clients leave unescaped in a path, and changes nothing else. */
export function escapeRawCharacters(path: string): string {
  return path.replace(/[[\]|^{}"<>`]/g, (char) => escapeOf(char.charCodeAt(0)))
}

/**
 * Whether every server reads the path alike: it is canonical, and has no escapes and no path parameters. False also for
 * malformed paths. One scan, no allocation.
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
 * Whether an upstream may take a path for another one than its canonical form. Either it has dot segments, of which
 * RFC 3986 makes "/a/b" where "/a//../b" has the canonical form "/b", and which some servers do not resolve at all; or
 * it begins with two slashes, behind which URL parsers look for a host.
 */
export function isAmbiguousPath(path: string): boolean {
  return /^\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)
}

/** Whether a canonical path holds "/" or "\\" in its escaped form, which some servers decode before they route. */
export function hasEncodedSlash(canonical: string): boolean {
  return /%2F|%5C/.test(canonical)
}

/**
 * Whether a canonical path holds a dot segment for servers that decode slashes or cut path parameters first: "/a/..;/b",
 * "/a/..%2Fb".
 */
export function hasHiddenDots(canonical: string): boolean {
  return /(?:\/|%2F|%5C)\.{1,2}(?:\/|%2F|%5C|;|%3B|$)/.test(canonical)
}

/**
 * Whether a canonical path holds nothing that servers are known to read in two ways: no ";", no escaped "/", "\\", ";"
 * or control character, nothing that is escaped twice.
 */
export function isStrictPath(canonical: string): boolean {
  return !/;|%(?:2F|5C|3B|7F|[01][0-9A-F]|25[0-9A-Fa-f]{2})/.test(canonical)
}

/**
 * A canonical path without the parameters of its segments, as servlet containers match it: "/a;v=1/b" is "/a/b", and
 * "/a/;v=1/b" is too.
 */
export function withoutParameters(canonical: string): string {
  if (!canonical.includes(';') && !canonical.includes('%3B')) return canonical
  return canonical.replace(/(?:;|%3B)[^/]*/g, '').replace(/\/{2,}/g, '/')
}

/** The forwardable path of a request: with the parameters of its segments, which `path` is without. */
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
