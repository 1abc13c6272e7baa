import { headerJoined, headerValue, httpDate, type Reply, type StoredResponseFacts } from '@sluice/core'
import type { Freshness } from './freshness.js'

/** Fields of a single delivery, which are not stored. */
export const UNSTORED_FIELDS: ReadonlySet<string> = new Set([
  'age',
  'cache-status',
  'content-length',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'surrogate-key',
  'x-request-id',
])
/**
 * Fields that a 304 does not change, because they describe the stored bytes (RFC 9111, 3.2: "to ensure
 * integrity").
 */
const OF_BODY: ReadonlySet<string> = new Set([
  'content-digest',
  'content-encoding',
  'content-md5',
  'content-range',
  'digest',
  'repr-digest',
])
/** Approximate overhead of a stored response besides its text and body. */
const OVERHEAD_BYTES = 960
const MAX_TAGS = 64
const MAX_TAG_CHARS = 256

/** Parts of a stored response. */
export interface StoredParts {
  readonly key: string
  readonly uri: string
  readonly status: number
  readonly headers: readonly string[]
  readonly body: Buffer
  readonly tags: readonly string[]
  readonly varyValues: readonly string[]
  readonly freshness: Freshness
  /** Wall clock time in milliseconds. */
  readonly receivedAt: number
}

/** The last complete reply with a stored response. It is reused until its Age or `ttl` changes. */
interface LastHit {
  readonly age: number
  readonly ttl: number
  readonly reply: Reply
}

/** A stored response. Only `lastHit` changes. */
export interface StoredResponse extends StoredParts {
  lastHit: LastHit | null
  readonly etag: string | null
  readonly lastModified: string | null
  /** Size in the store, in bytes. */
  readonly size: number
}

/** Creates a stored response. */
export function storedResponse(parts: StoredParts): StoredResponse {
  const { key, uri, status, headers, body, tags, varyValues, freshness, receivedAt } = parts
  return {
    ...{ key, uri, status, headers, body, tags, varyValues, freshness, receivedAt },
    etag: headerValue(headers, 'etag'),
    lastModified: headerValue(headers, 'last-modified'),
    size: OVERHEAD_BYTES + body.length + 2 * charsOf(parts),
    lastHit: null,
  }
}

/** Returns the age in milliseconds. Never negative, even if the clock was set back. */
export function ageOf({ freshness, receivedAt }: StoredResponse, now: number): number {
  return freshness.initialAgeMs + Math.max(0, now - receivedAt)
}

/** Returns true if the request has the field values that selected this response. */
export function isFor({ freshness, varyValues }: StoredResponse, headers: readonly string[]): boolean {
  const { vary } = freshness
  for (let i = 0; i < vary.length; i++) if (varyValue(headers, vary[i]!) !== varyValues[i]) return false
  return true
}

/** Returns true if the response can be validated. */
export function hasValidator({ etag, lastModified }: StoredResponse): boolean {
  return etag !== null || httpDate(lastModified) !== null
}

/**
 * Returns a response updated by a matching 304 (RFC 9111, 3.2).
 * @param merged headers from `mergedHeaders`.
 */
export function updatedBy(
  stored: StoredResponse,
  merged: readonly string[],
  { freshness, receivedAt }: Pick<StoredParts, 'freshness' | 'receivedAt'>,
): StoredResponse {
  const tags = headerValue(merged, 'surrogate-key') === null ? stored.tags : tagsOf(merged)
  const headers = keptHeaders(merged, freshness.unstored)
  return storedResponse({ ...stored, headers, freshness, tags, receivedAt })
}

/** Returns the facts about a response for operators. */
export function factsOf(stored: StoredResponse, now: number): StoredResponseFacts {
  const age = ageOf(stored, now)
  return {
    key: stored.uri,
    status: stored.status,
    bytes: stored.body.length,
    ageSeconds: Math.floor(age / 1000),
    ttlSeconds: Math.floor((stored.freshness.lifetimeMs - age) / 1000),
    tags: stored.tags,
    vary: stored.freshness.vary,
  }
}

/** Merges the headers of a 304 into those of the stored response. */
export function mergedHeaders(stored: readonly string[], update: readonly string[]): readonly string[] {
  const names = new Set<string>()
  for (let i = 0; i < update.length; i += 2) if (!OF_BODY.has(update[i]!)) names.add(update[i]!)
  const merged: string[] = []
  for (let i = 0; i < stored.length; i += 2) {
    if (!names.has(stored[i]!)) merged.push(stored[i]!, stored[i + 1]!)
  }
  for (let i = 0; i < update.length; i += 2) {
    if (names.has(update[i]!)) merged.push(update[i]!, update[i + 1]!)
  }
  return merged
}

function charsOf({ key, uri, headers, tags, varyValues }: StoredParts): number {
  let chars = key.length + uri.length
  for (const list of [headers, tags, varyValues]) for (const text of list) chars += text.length
  return chars
}

/** Returns the response fields to store. @param unstored names to omit, in lower case. */
export function keptHeaders(headers: readonly string[], unstored: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    if (!UNSTORED_FIELDS.has(name) && !unstored.includes(name)) kept.push(name, headers[i + 1]!)
  }
  return kept
}

/** Returns a request field as Vary compares it: lines joined, without white space around commas. */
export function varyValue(headers: readonly string[], name: string): string {
  const value = headerJoined(headers, name)
  if (value === null) return '\n'
  if (!value.includes(',')) return value.trim()
  return value
    .split(',')
    .map((part) => part.trim())
    .join(',')
}

/** Returns the tags of Surrogate-Key, separated by spaces. Long and excess tags are dropped. */
export function tagsOf(headers: readonly string[]): readonly string[] {
  const field = headerJoined(headers, 'surrogate-key')
  if (field === null) return []
  const tags = field.split(/[ ,]+/).filter((tag) => tag !== '' && tag.length <= MAX_TAG_CHARS)
  return [...new Set(tags)].slice(0, MAX_TAGS)
}

/** Copies bytes out of a larger block, so that the block can be freed. */
export function ownBytes(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer && bytes.buffer.byteLength === bytes.length) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
