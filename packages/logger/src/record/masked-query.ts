import { decodedUrl, MASK, QueryCursor, type SensitiveNames } from '@sluice/core'

const cursor = new QueryCursor()

/** A query or a form without the values whose names say that they are secrets. */
export function maskedQuery(query: string, sensitive: SensitiveNames): string {
  let out = ''
  cursor.read(query)
  while (cursor.advance())
    out += (cursor.start === 0 ? '' : '&') + maskedPair(query.slice(cursor.start, cursor.end), sensitive)
  return out
}

/** The value of a field that may hold a URL, as Referer and Location do: without its user, its query masked. */
export function maskedUrls(value: string, sensitive: SensitiveNames): string {
  const text = value.includes('://') && value.includes('@') ? withoutUsers(value) : value
  if (!text.includes('=')) return text
  const start = queryStart(text)
  return start === -1 ? text : text.slice(0, start) + maskedQuery(text.slice(start), sensitive)
}

/** `https://user:password@host` without what stands before the host. */
function withoutUsers(text: string): string {
  let out = ''
  let from = 0
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', from)) {
    const start = at + 3
    const end = authorityEnd(text, start)
    const user = text.lastIndexOf('@', end - 1)
    out += text.slice(from, start) + (user >= start ? MASK + text.slice(user, end) : text.slice(start, end))
    from = end
  }
  return out + text.slice(from)
}

function authorityEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && !'/?# ,'.includes(text[end]!)) end++
  return end
}

/** After the first `?` or `#`, or -1. What a target hands to a script stands after the second. */
function queryStart(text: string): number {
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '?' || text[i] === '#') return i + 1
  }
  return -1
}

function maskedPair(pair: string, sensitive: SensitiveNames): string {
  const equals = pair.indexOf('=')
  if (equals === -1) return pair
  const name = pair.slice(0, equals)
  if (isSensitive(name, sensitive)) return name + '=' + MASK
  const within = secretWithin(pair, sensitive)
  if (within !== -1) return pair.slice(0, within) + MASK
  return hidesSecret(pair.slice(equals + 1), sensitive) ? name + '=' + MASK : pair
}

/**
 * Where in a pair the value of a second one begins that is a secret, or -1: some upstreams part pairs by `;`, and a
 * value may be a URL with a query. It is taken to go on to the end of the pair, for it may hold such characters too.
 */
function secretWithin(text: string, sensitive: SensitiveNames): number {
  let start = -1
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (';?#&'.includes(character)) start = i + 1
    else if (character === '=' && start !== -1) {
      if (isSensitive(text.slice(start, i), sensitive)) return i + 1
      start = -1
    }
  }
  return -1
}

/** Whether a value is, under its escapes, a URL or a query that holds a secret. */
function hidesSecret(value: string, sensitive: SensitiveNames): boolean {
  if (!value.includes('%')) return false
  const plain = decodedUrl(value)
  // What cannot be decoded is no URL that anybody follows.
  return plain !== null && secretWithin('?' + plain, sensitive) !== -1
}

/** Upstreams decode parameter names, so `api%5Fkey` is a secret too; a name that cannot be decoded counts as one. */
function isSensitive(name: string, sensitive: SensitiveNames): boolean {
  const plain = decodedUrl(name)
  return plain === null || sensitive.has(plain)
}
