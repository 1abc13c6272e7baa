import { decodedUrl, MASK, QueryCursor, type SensitiveNames } from '@sluice/core'

const cursor = new QueryCursor()

/** Masks the secret values of a query or form, identified by their names. */
export function maskedQuery(query: string, sensitive: SensitiveNames): string {
  let out = ''
  cursor.read(query)
  while (cursor.advance())
    out += (cursor.start === 0 ? '' : '&') + maskedPair(query.slice(cursor.start, cursor.end), sensitive)
  return out
}

/**
 * Masks secrets in a field value that may contain URLs, such as Referer or Location: user information and
 * query values.
 */
export function maskedUrls(value: string, sensitive: SensitiveNames): string {
  const text = value.includes('://') && value.includes('@') ? withoutUsers(value) : value
  if (!text.includes('=')) return text
  const start = queryStart(text)
  return start === -1 ? text : text.slice(0, start) + maskedQuery(text.slice(start), sensitive)
}

/** Masks the user information in `https://user:password@host`. */
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

/** Returns the position after the first `?` or `#`, or -1. A fragment may contain parameters for scripts. */
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
 * Returns the start of a secret value nested in a pair, or -1. Some upstreams also split pairs at `;`, and a
 * value may be a URL with a query. The secret is assumed to extend to the end of the pair.
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

/** Returns true if a percent-encoded value contains a URL or query with a secret. */
function hidesSecret(value: string, sensitive: SensitiveNames): boolean {
  if (!value.includes('%')) return false
  const plain = decodedUrl(value)
  // Text that cannot be decoded is not a usable URL.
  return plain !== null && secretWithin('?' + plain, sensitive) !== -1
}

/**
 * Returns true if a name marks a secret after decoding, as in `api%5Fkey`. A name that cannot be decoded
 * counts as secret.
 */
function isSensitive(name: string, sensitive: SensitiveNames): boolean {
  const plain = decodedUrl(name)
  return plain === null || sensitive.has(plain)
}
