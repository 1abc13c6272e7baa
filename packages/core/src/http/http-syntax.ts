/** Character classes of RFC 9110, as tables, so that a check is one load per character. */
const TOKEN = table("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

function table(chars: string): Uint8Array {
  const set = new Uint8Array(256)
  for (let i = 0; i < chars.length; i++) set[chars.charCodeAt(i)] = 1
  return set
}

/** Whether text is a token (RFC 9110 section 5.6.2): a method or a field name. */
export function isToken(text: string): boolean {
  if (text.length === 0) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127 || TOKEN[code] === 0) return false
  }
  return true
}

/** True if text may stand as a field value that the gateway writes: visible ASCII, space and tab (RFC 9110 section 5.5). */
export function isFieldValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code < 32 && code !== 9) || code > 126) return false
  }
  return true
}

/** Returns text without spaces and tabs at its ends. `trim` would remove a byte 0xa0, too, which is part of a field value. */
export function trimOws(text: string): string {
  let end = text.length
  while (end > 0 && isOws(text.charCodeAt(end - 1))) end--
  return trimOwsStart(text.slice(0, end))
}

/** Returns text without spaces and tabs at its start. */
export function trimOwsStart(text: string): string {
  let start = 0
  while (start < text.length && isOws(text.charCodeAt(start))) start++
  return text.slice(start)
}

function isOws(code: number): boolean {
  return code === 32 || code === 9
}

/**
 * Returns a field name as servers see it that pass fields on as CGI does (RFC 3875 section 4.1.18): they cannot
 * distinguish `x_user` and `x.user` from `x-user`. Hyphens stand for all characters that are no letter or digit.
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

/** The number that a Content-Length says; -1 when it is not 1 to 15 digits, with which it stays an exact integer. */
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

/** Whether a comma-separated list holds the token, compared without case (RFC 9110 section 5.6.1). */
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

/** Fields of one connection (RFC 9110 section 7.6.1), which a gateway never forwards. */
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

/** Whether a field belongs to one connection only. `name` must be lower-case. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name)
}

/** True if a field only looks like one that frames or describes the body, or belongs to the connection: `content_length`. */
export function isMessageLookalike(name: string): boolean {
  const plain = plainName(name)
  return plain !== name && (DESCRIBES_BODY.has(plain) || HOP_BY_HOP.has(plain))
}

const DESCRIBES_BODY: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'content-type'])
