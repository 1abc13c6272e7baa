import {
  type Exchange,
  type PurgeScope,
  type StoredResponseCounts,
  type StoredResponseFacts,
  StoredResponses,
} from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { InFlightFetch } from './in-flight-fetch.js'
import { factsOf, isFor, type StoredResponse } from './stored-response.js'

/** Maximum number of responses per key that differ by Vary. */
const MAX_VARIANTS = 16
/** Maximum number of remembered URIs whose pending responses must not be stored because of a change. */
const MAX_INVALIDATED = 4096
/** Maximum number and total length of changed URIs to announce to other workers. Others are not announced. */
const MAX_CHANGED = 1000
const MAX_CHANGED_CHARS = 256 * 1024
/** Maximum number of keys with recently uncacheable responses, and the time in milliseconds that they are remembered. */
const MAX_PASSED = 1024
const PASS_MS = 2000

/** Result of a cache lookup, for counters. */
export type CacheResult = 'hit' | 'stale' | 'revalidated' | 'coalesced' | 'miss' | 'bypass'

/**
 * Size-limited cache of one worker. Evicts the least recently used responses.
 *
 *     uri 'api.example.com/a?b' ─► keys (consumer, fields, …) ─► variants by Vary, the newest first
 */
export class ResponseStore extends StoredResponses {
  readonly #kept: LRUCache<string, readonly StoredResponse[]>
  readonly #keysOf = new Map<string, Set<string>>()
  readonly #invalidatedAt = new Map<string, number>()
  #changed = new Set<string>()
  #changedChars = 0
  /** Keys with recently uncacheable responses, and the times until which requests do not wait for them. */
  readonly #passedUntil = new LRUCache<string, number>({ max: MAX_PASSED })
  readonly #requests = new Map<CacheResult, number>()
  /** Incremented by every purge. Responses requested before are not stored. */
  epoch = 0
  #evictions = 0
  /** Requests in flight that others may wait for, by key. */
  readonly inFlight = new Map<string, InFlightFetch>()
  readonly maxBytes: number
  /** Listeners for purges by operators. */
  readonly onPurge = new Map<string, (scope: PurgeScope) => void>()
  /** Memory of responses being recorded, in bytes. */
  recordingBytes = 0

  constructor(maxBytes: number) {
    super()
    this.maxBytes = maxBytes
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (variants) => variants.reduce((sum, { size }) => sum + size, 0),
      dispose: (variants, key, reason) => {
        if (reason === 'set') return
        if (reason === 'evict') this.#evictions += variants.length
        this.#forgetKey(variants[0]!.uri, key)
      },
    })
  }

  /** Counts a cache result and records it for the traffic log. @param ageMs age of the stored response. */
  note(x: Exchange, result: CacheResult, ageMs: number): void {
    x.record.cacheResult = result
    x.record.cacheAge = Math.floor(ageMs / 1000)
    this.#requests.set(result, (this.#requests.get(result) ?? 0) + 1)
  }

  /** Returns the stored response for a request, or null. */
  lookUp(key: string, headers: readonly string[]): StoredResponse | null {
    const variants = this.#kept.get(key)
    if (variants === undefined) return null
    for (const stored of variants) if (isFor(stored, headers)) return stored
    return null
  }

  /** Returns true if a key has responses, even if they differ by Vary. */
  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** Returns all responses of a key, the newest first. */
  variantsOf(key: string): readonly StoredResponse[] {
    return this.#kept.peek(key) ?? []
  }

  remove(stored: StoredResponse): void {
    const left = (this.#kept.peek(stored.key) ?? []).filter((other) => other !== stored)
    if (left.length === 0) this.#kept.delete(stored.key)
    else this.#kept.set(stored.key, left)
  }

  put(stored: StoredResponse): void {
    const { key, uri, varyValues, freshness } = stored
    const others = (this.#kept.peek(key) ?? []).filter(
      (other) =>
        other.freshness.vary.join() !== freshness.vary.join() ||
        other.varyValues.some((value, i) => value !== varyValues[i]),
    )
    this.#kept.set(key, [stored, ...others].slice(0, MAX_VARIANTS))
    if (!this.#kept.has(key)) return
    const keys = this.#keysOf.get(uri)
    if (keys === undefined) this.#keysOf.set(uri, new Set([key]))
    else keys.add(key)
  }

  /** Invalidates a URI changed by a request of this worker, and queues it for the other workers. */
  change(uri: string, now: number): void {
    this.invalidate(uri, now)
    if (this.#changed.size >= MAX_CHANGED || this.#changedChars > MAX_CHANGED_CHARS) return
    this.#changed.add(uri)
    this.#changedChars += uri.length
  }

  takeChanged(): readonly string[] {
    if (this.#changed.size === 0) return []
    const uris = [...this.#changed]
    this.#changed = new Set()
    this.#changedChars = 0
    return uris
  }

  /** Removes the responses of a changed URI, and prevents storing pending ones. */
  invalidate(uri: string, now: number): void {
    if (this.#invalidatedAt.size >= MAX_INVALIDATED) {
      this.#invalidatedAt.clear()
      this.epoch++
    }
    this.#invalidatedAt.set(uri, now)
    this.#drop(uri)
  }

  /** Returns true if a response requested at that time may be stored. */
  isCurrent(uri: string, epoch: number, requestedAt: number): boolean {
    if (epoch !== this.epoch) return false
    const invalidatedAt = this.#invalidatedAt.get(uri)
    return invalidatedAt === undefined || invalidatedAt < requestedAt
  }

  /** Makes requests with this key skip waiting for a while, because its response is uncacheable. */
  pass(key: string, now: number): void {
    this.#passedUntil.set(key, now + PASS_MS)
  }

  isPassed(key: string, now: number): boolean {
    return (this.#passedUntil.get(key) ?? 0) > now
  }

  purge(scope: PurgeScope): number {
    for (const notify of this.onPurge.values()) notify(scope)
    return this.purgeOwn(scope)
  }

  /** Purges only the responses of this worker. */
  purgeOwn(scope: PurgeScope): number {
    this.epoch++
    if (scope.by === 'key') return this.#drop(scope.value)
    let purged = 0
    for (const [key, variants] of [...this.#kept.entries()]) {
      const left = variants.filter((stored) => !matchesScope(stored, scope))
      purged += variants.length - left.length
      if (left.length === 0) this.#kept.delete(key)
      else if (left.length < variants.length) this.#kept.set(key, left)
    }
    return purged
  }

  find(uri: string, limit: number): readonly StoredResponseFacts[] {
    const now = Date.now()
    const keys = [...(this.#keysOf.get(uri) ?? [])]
    const stored = keys.flatMap((key) => this.#kept.peek(key) ?? [])
    return stored.slice(0, limit).map((one) => factsOf(one, now))
  }

  counts(): StoredResponseCounts {
    let entries = 0
    for (const variants of this.#kept.values()) entries += variants.length
    return { requests: this.#requests, evictions: this.#evictions, entries, bytes: this.#kept.calculatedSize }
  }

  #drop(uri: string): number {
    let dropped = 0
    for (const key of [...(this.#keysOf.get(uri) ?? [])]) {
      dropped += this.#kept.peek(key)?.length ?? 0
      this.#kept.delete(key)
    }
    return dropped
  }

  #forgetKey(uri: string, key: string): void {
    const keys = this.#keysOf.get(uri)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysOf.delete(uri)
  }
}

/** True if a purge applies to a response. */
export function matchesScope({ uri, tags }: StoredResponse, scope: PurgeScope): boolean {
  if (scope.by === 'all') return true
  if (scope.by === 'key') return uri === scope.value
  return scope.by === 'tag' ? tags.includes(scope.value) : uri.startsWith(scope.value)
}
