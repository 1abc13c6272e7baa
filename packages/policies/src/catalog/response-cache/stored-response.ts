import { headerJoined, headerValue, httpDate, type StoredResponseFacts } from '@sluice/core'
import type { Freshness } from './freshness.js'

/** Fields that belong to one delivery, and not to what is kept. */
export const UNKEPT: ReadonlySet<string> = new Set([
  'age',
  'cache-status',
  'content-length',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'surrogate-key',
  'x-request-id',
])
/** What a 304 does not change: they describe the bytes that are kept (RFC 9111, 3.2: "to ensure integrity"). */
const OF_BODY: ReadonlySet<string> = new Set([
  'content-digest',
  'content-encoding',
  'content-md5',
  'content-range',
  'digest',
  'repr-digest',
])
/** What the store needs for one beside its text and body, about. */
const OVERHEAD_BYTES = 640
const MOST_TAGS = 64
const MOST_TAG_CHARS = 256

/** What a response is kept as. */
export interface StoredParts {
  readonly key: string
  readonly uri: string
  readonly status: number
  readonly headers: readonly string[]
  readonly body: Buffer
  readonly tags: readonly string[]
  readonly varyValues: readonly string[]
  readonly freshness: Freshness
  /** Wall clock, ms. */
  readonly receivedAt: number
}

/** A response that is kept; never changed, only replaced. */
export class StoredResponse {
  readonly key: string
  readonly uri: string
  readonly status: number
  readonly headers: readonly string[]
  readonly body: Buffer
  readonly tags: readonly string[]
  readonly varyValues: readonly string[]
  readonly freshness: Freshness
  readonly receivedAt: number
  readonly etag: string | null
  readonly lastModified: string | null
  /** What it takes of the store's bytes. */
  readonly size: number

  constructor(parts: StoredParts) {
    this.key = parts.key
    this.uri = parts.uri
    this.status = parts.status
    this.headers = parts.headers
    this.body = parts.body
    this.tags = parts.tags
    this.varyValues = parts.varyValues
    this.freshness = parts.freshness
    this.receivedAt = parts.receivedAt
    this.etag = headerValue(parts.headers, 'etag')
    this.lastModified = headerValue(parts.headers, 'last-modified')
    this.size = OVERHEAD_BYTES + parts.body.length + 2 * charsOf(parts)
  }

  /** ms; never negative, also when the clock was set back. */
  ageAt(now: number): number {
    return this.freshness.initialAgeMs + Math.max(0, now - this.receivedAt)
  }

  /** Whether a request asks for it: its fields have the values that it was chosen by. */
  isFor(headers: readonly string[]): boolean {
    const { vary } = this.freshness
    for (let i = 0; i < vary.length; i++) {
      if (varyValue(headers, vary[i]!) !== this.varyValues[i]) return false
    }
    return true
  }

  /** It can be asked for whether it still holds. */
  get hasValidator(): boolean {
    return this.etag !== null || httpDate(this.lastModified) !== null
  }

  /** What it is after a 304 that speaks of it (RFC 9111, 3.2). @param merged see mergedHeaders. */
  updatedBy(merged: readonly string[], freshness: Freshness, receivedAt: number): StoredResponse {
    const tags = headerValue(merged, 'surrogate-key') === null ? this.tags : tagsOf(merged)
    const headers = keptHeaders(merged, freshness.unkept)
    return new StoredResponse({ ...this, headers, freshness, tags, receivedAt })
  }

  factsAt(now: number): StoredResponseFacts {
    const age = this.ageAt(now)
    return {
      key: this.uri,
      status: this.status,
      bytes: this.body.length,
      ageSeconds: Math.floor(age / 1000),
      ttlSeconds: Math.floor((this.freshness.lifetimeMs - age) / 1000),
      tags: this.tags,
      vary: this.freshness.vary,
    }
  }
}

/** The fields of a stored response with those of a 304 in the place of the ones of the same name. */
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

/** The fields of a response that are kept. @param unkept names, in lower case. */
export function keptHeaders(headers: readonly string[], unkept: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    if (!UNKEPT.has(name) && !unkept.includes(name)) kept.push(name, headers[i + 1]!)
  }
  return kept
}

/** A field of a request as responses are chosen by it: its lines joined, without white space around commas. */
export function varyValue(headers: readonly string[], name: string): string {
  const value = headerJoined(headers, name)
  if (value === null) return '\n'
  if (!value.includes(',')) return value.trim()
  return value
    .split(',')
    .map((part) => part.trim())
    .join(',')
}

/** The tags of Surrogate-Key, which are separated by spaces; those that are too long or too many are left out. */
export function tagsOf(headers: readonly string[]): readonly string[] {
  const field = headerJoined(headers, 'surrogate-key')
  if (field === null) return []
  const tags = field.split(/[ ,]+/).filter((tag) => tag !== '' && tag.length <= MOST_TAG_CHARS)
  return [...new Set(tags)].slice(0, MOST_TAGS)
}

/** Memory of its own: a part of a larger block would hold on to all of it. */
export function ownBytes(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer && bytes.buffer.byteLength === bytes.length) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
