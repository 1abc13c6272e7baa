import { createHash } from 'node:crypto'
import { toUSVString } from 'node:util'

/** Policies with counters. */
export type LimitKind = 'rate-limit' | 'quota'

/** Identifies a counter in the store. */
export interface CounterName {
  /** Index of the limit in the policy, from 0. */
  readonly limit: number
  /** Route or API with a separate counter, or empty if all share one. */
  readonly place: string
  /** Counter key of the request, or empty for requests without one. */
  readonly key: string
}

/** Separator between the parts of a counter name. The parts never contain it. */
const SEPARATOR = '\n'
/**
 * Maximum length of a policy ID. The text before a key stays within 100 characters, so that stores can list
 * and delete by prefix.
 */
const MAX_ID = 64
const MAX_PLACE = 40
const MAX_KEY = 80
/** Number of characters kept in front of a digest, for readability. */
const BEGINNING = 24
const DIGEST_CHARS = 22
const DIGEST = /^[\w-]+$/
const TILDE = 126

/**
 * Returns a key as it is stored and shown. A key that is too long or contains unsuitable characters becomes
 * its beginning and a digest.
 */
export function counterKey(text: string): string {
  return bounded(text, MAX_KEY)
}

/** Returns the stored form of a key entered by an operator. Accepts both the original and the stored form. */
export function namedCounterKey(text: string): string {
  return hasDigest(text) ? text : counterKey(text)
}

/**
 * Returns true if a key expression is the client address. IPv6 clients are counted per /64 network (see
 * `clientNetwork`).
 */
export function isAddressKey(expression: string): boolean {
  return expression.trim() === 'client.ip'
}

/** Returns the common prefix of all counter names of a policy. */
export function counterPrefix(kind: LimitKind, policy: string): string {
  return `${kind === 'quota' ? 'quota' : 'rate'}${SEPARATOR}${bounded(policy, MAX_ID)}${SEPARATOR}`
}

/** Returns the name of a counter in the store. @param key Result of `counterKey`. */
export function counterName(prefix: string, { limit, place, key }: CounterName): string {
  return `${prefix}${limit}${SEPARATOR}${bounded(place, MAX_PLACE)}${SEPARATOR}${key}`
}

/** Parses a counter name. Returns null if the text is not one. */
export function readCounterName(name: string, prefix: string): CounterName | null {
  const [limit, place, key, ...more] = name.slice(prefix.length).split(SEPARATOR)
  if (!name.startsWith(prefix) || place === undefined || key === undefined || more.length > 0) return null
  return /^\d+$/.test(limit!) ? { limit: Number(limit), place, key } : null
}

function bounded(text: string, most: number): string {
  const isWhole = text.length <= most && !text.includes(SEPARATOR) && toUSVString(text) === text
  // A text that looks like a digest is hashed too, so that nobody can claim the counter of a longer key.
  if (isWhole && !hasDigest(text)) return text
  const digest = createHash('sha256')
    .update(Buffer.from(text, 'utf16le'))
    .digest('base64url')
    .slice(0, DIGEST_CHARS)
  const beginning = text.slice(0, Math.min(BEGINNING, most - DIGEST_CHARS - 1))
  return `${toUSVString(beginning.replaceAll(SEPARATOR, ' '))}~${digest}`
}

function hasDigest(text: string): boolean {
  const at = text.length - DIGEST_CHARS - 1
  return at >= 0 && text.charCodeAt(at) === TILDE && DIGEST.test(text.slice(at + 1))
}
