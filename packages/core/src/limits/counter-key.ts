import { createHash } from 'node:crypto'
import { toUSVString } from 'node:util'

/** The policies that count. */
export type LimitKind = 'rate-limit' | 'quota'

/** What one counter of the store counts. */
export interface CounterName {
  /** Which limit of the policy, from 0. */
  readonly limit: number
  /** The route or API that is counted apart; empty: all together. */
  readonly place: string
  /** Empty: the requests without a key. */
  readonly key: string
}

/** No part of a counter's name holds it. */
const SEPARATOR = '\n'
/** Of a policy's id: what stands before a key has at most 100 characters, so that stores can list and delete by it. */
const MAX_ID = 64
const MAX_PLACE = 40
const MAX_KEY = 80
/** Of a text that becomes a digest, for people. */
const BEGINNING = 24
const DIGEST_CHARS = 22
const DIGEST = /^[\w-]+$/
const TILDE = 126

/** A key as it is counted and shown: what is long or could not be a part of a name becomes its beginning and a digest. */
export function counterKey(text: string): string {
  return bounded(text, MAX_KEY)
}

/** The key that an operator names: as requests have it, or as it is shown. */
export function namedCounterKey(text: string): string {
  return hasDigest(text) ? text : counterKey(text)
}

/** Whether an expression of a key is the address of the client, of which IPv6 counts by its /64 (`clientNetwork`). */
export function isAddressKey(expression: string): boolean {
  return expression.trim() === 'client.ip'
}

/** What the names of all counters of a policy begin with. */
export function counterPrefix(kind: LimitKind, policy: string): string {
  return `${kind === 'quota' ? 'quota' : 'rate'}${SEPARATOR}${bounded(policy, MAX_ID)}${SEPARATOR}`
}

/** The name of a counter in the store. @param key as `counterKey` gives it. */
export function counterName(prefix: string, { limit, place, key }: CounterName): string {
  return `${prefix}${limit}${SEPARATOR}${bounded(place, MAX_PLACE)}${SEPARATOR}${key}`
}

/** Reads what `counterName` wrote; null for another text. */
export function readCounterName(name: string, prefix: string): CounterName | null {
  const [limit, place, key, ...more] = name.slice(prefix.length).split(SEPARATOR)
  if (!name.startsWith(prefix) || place === undefined || key === undefined || more.length > 0) return null
  return /^\d+$/.test(limit!) ? { limit: Number(limit), place, key } : null
}

function bounded(text: string, most: number): string {
  const isWhole = text.length <= most && !text.includes(SEPARATOR) && toUSVString(text) === text
  // Nobody takes the place of a longer text by writing its digest.
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
