/** Characters of a token (RFC 9110) as a lookup table, which costs one load per character. */
const TOKEN = table("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

function table(chars: string): Uint8Array {
  const set = new Uint8Array(256)
  for (let i = 0; i < chars.length; i++) set[chars.charCodeAt(i)] = 1
  return set
}

/** Returns true if the text is a token (RFC 9110 section 5.6.2), such as a method or field name. */
export function isToken(text: string): boolean {
  if (text.length === 0) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127 || TOKEN[code] === 0) return false
  }
  return true
}

/**
 * Returns true if the gateway may write the text as a field value: visible ASCII, space and tab (RFC 9110
 * section 5.5).
 */
export function isFieldValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code < 32 && code !== 9) || code > 126) return false
  }
  return true
}

/**
 * Removes leading and trailing spaces and tabs. `trim` would also remove the byte 0xa0, which is part of a
 * field value.
 */
export function trimOws(text: string): string {
  let end = text.length
  while (end > 0 && isOws(text.charCodeAt(end - 1))) end--
  return trimOwsStart(text.slice(0, end))
}

/** Removes leading spaces and tabs. */
export function trimOwsStart(text: string): string {
  let start = 0
  while (start < text.length && isOws(text.charCodeAt(start))) start++
  return text.slice(start)
}

function isOws(code: number): boolean {
  return code === 32 || code === 9
}

/**
 * Returns a field name as CGI-style servers see it (RFC 3875 section 4.1.18): `x_user`, `x.user` and `x-user`
 * are the same. Every character other than a letter or digit becomes a hyphen.
 */
export function plainName(name: string): string {
  for (let i = 0; i < name.length; i++) {
    if (!isNameCharacter(name.charCodeAt(i))) return name.replaceAll(/[^A-Za-z0-9]/g, '-')
  }
  return name
}

function isNameCharacter(code: number): boolean {
  return (
    code === 45 || (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90)
  )
}

/** Parses a Content-Length. Returns -1 unless it has 1 to 15 digits; longer numbers might not be exact. */
export function contentLengthOf(text: string): number {
  if (text.length === 0 || text.length > 15) return -1
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return length
}

/** Returns true if a comma-separated list contains the token, ignoring case (RFC 9110 section 5.6.1). */
export function listHasToken(list: string, token: string): boolean {
  let start = 0
  while (start <= list.length) {
    let end = list.indexOf(',', start)
    if (end === -1) end = list.length
    if (trimOws(list.slice(start, end)).toLowerCase() === token) return true
    start = end + 1
  }
  return false
}

/** Connection-specific fields (RFC 9110 section 7.6.1), which a gateway never forwards. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Returns true if a field is connection-specific. `name` must be lower-case. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name)
}

/**
 * Returns true if a name looks like a field that frames or describes the body or is connection-specific but
 * is spelled differently, such as `content_length`.
 */
export function isMessageLookalike(name: string): boolean {
  const plain = plainName(name)
  return plain !== name && (DESCRIBES_BODY.has(plain) || HOP_BY_HOP.has(plain))
}

const DESCRIBES_BODY: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'content-type'])
