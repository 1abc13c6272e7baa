import {
  type Exchange,
  type PurgeScope,
  type StoredResponseCounts,
  type StoredResponseFacts,
  StoredResponses,
} from '@sluice/core'
import { LRUCache } from 'lru-cache'
import type { Flight } from './flight.js'
import type { StoredResponse } from './stored-response.js'

/** Responses of one key that differ in what Vary names. */
const MOST_VARIANTS = 16
/** URIs whose responses on their way must not be kept, because something has changed there. */
const MOST_INVALIDATED = 4096
/** URIs, and characters of them, that wait until the other workers hear that they have changed; more are not told. */
const MOST_CHANGED = 1000
const MOST_CHANGED_CHARS = 256 * 1024
/** Keys whose responses could not be kept a moment ago. */
const MOST_PASSED = 1024

/** How a request was served, for the counters. */
export type CacheResult = 'hit' | 'stale' | 'revalidated' | 'coalesced' | 'miss' | 'bypass'

/**
 * The responses that one worker keeps, at most so many bytes; what was used least recently goes first.
 *
 *     uri 'api.example.com/a?b' ─► keys (consumer, fields, …) ─► variants by Vary, the newest first
 */
export class ResponseStore extends StoredResponses {
  readonly #kept: LRUCache<string, readonly StoredResponse[]>
  readonly #keysOf = new Map<string, Set<string>>()
  readonly #invalidatedAt = new Map<string, number>()
  #changed = new Set<string>()
  #changedChars = 0
  readonly #passedUntil = new Map<string, number>()
  readonly #requests = new Map<CacheResult, number>()
  /** Grows with every purge: what was asked for before is not kept. */
  epoch = 0
  #evictions = 0
  /** Requests on their way whose responses others may wait for, by key; no more than there are requests. */
  readonly flights = new Map<string, Flight>()
  readonly maxBytes: number
  /** Hear of what operators purge. */
  readonly onPurge = new Map<string, (scope: PurgeScope) => void>()
  /** What responses take that are on their way into the store. */
  recordingBytes = 0

  constructor(maxBytes: number) {
    super()
    this.maxBytes = maxBytes
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: sizeOf,
      dispose: (variants, key, reason) => {
        if (reason === 'set') return
        if (reason === 'evict') this.#evictions += variants.length
        this.#forgetKey(variants[0]!.uri, key)
      },
    })
  }

  /** Counts how a request was served, and says it to the traffic log. @param ageMs of the stored response. */
  note(x: Exchange, result: CacheResult, ageMs: number): void {
    x.record.cacheResult = result
    x.record.cacheAge = Math.floor(ageMs / 1000)
    this.#count(result)
  }

  #count(result: CacheResult): void {
    this.#requests.set(result, (this.#requests.get(result) ?? 0) + 1)
  }

  /** What is kept for a request; null: nothing. */
  lookUp(key: string, headers: readonly string[]): StoredResponse | null {
    const variants = this.#kept.get(key)
    if (variants === undefined) return null
    for (const stored of variants) if (stored.isFor(headers)) return stored
    return null
  }

  /** Whether something is kept under a key, for other values of what Vary names at least. */
  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** All that is kept under a key, the newest first. */
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
    this.#kept.set(key, [stored, ...others].slice(0, MOST_VARIANTS))
    if (!this.#kept.has(key)) return
    const keys = this.#keysOf.get(uri)
    if (keys === undefined) this.#keysOf.set(uri, new Set([key]))
    else keys.add(key)
  }

  /** A request of this worker has changed something at a URI, of which the other workers are to hear. */
  change(uri: string, now: number): void {
    this.invalidate(uri, now)
    if (this.#changed.size >= MOST_CHANGED || this.#changedChars > MOST_CHANGED_CHARS) return
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

  /** Something was changed at a URI: what is kept of it is forgotten, and what is on its way will not be kept. */
  invalidate(uri: string, now: number): void {
    if (this.#invalidatedAt.size >= MOST_INVALIDATED) {
      this.#invalidatedAt.clear()
      this.epoch++
    }
    this.#invalidatedAt.set(uri, now)
    this.#drop(uri)
  }

  /** Whether a response to a request of that time may be kept. */
  isCurrent(uri: string, epoch: number, requestedAt: number): boolean {
    if (epoch !== this.epoch) return false
    const invalidatedAt = this.#invalidatedAt.get(uri)
    return invalidatedAt === undefined || invalidatedAt < requestedAt
  }

  /** Requests with this key do not wait for each other until then: what they get cannot be kept. */
  passUntil(key: string, until: number): void {
    if (this.#passedUntil.size >= MOST_PASSED) this.#passedUntil.clear()
    this.#passedUntil.set(key, until)
  }

  isPassed(key: string, now: number): boolean {
    if (this.#passedUntil.size === 0) return false
    const until = this.#passedUntil.get(key)
    if (until === undefined) return false
    if (until > now) return true
    this.#passedUntil.delete(key)
    return false
  }

  purge(scope: PurgeScope): number {
    for (const hear of this.onPurge.values()) hear(scope)
    return this.purgeOwn(scope)
  }

  /** The same for this worker alone. */
  purgeOwn(scope: PurgeScope): number {
    this.epoch++
    if (scope.by === 'key') return this.#drop(scope.value)
    let purged = 0
    for (const [key, variants] of [...this.#kept.entries()]) {
      const left = variants.filter((stored) => !isMeant(stored, scope))
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
    return stored.slice(0, limit).map((one) => one.factsAt(now))
  }

  counts(): StoredResponseCounts {
    let entries = 0
    for (const variants of this.#kept.values()) entries += variants.length
    return {
      requests: this.#requests,
      evictions: this.#evictions,
      entries,
      bytes: this.#kept.calculatedSize,
    }
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

/** Whether a purge means a response. */
export function isMeant({ uri, tags }: StoredResponse, scope: PurgeScope): boolean {
  if (scope.by === 'all') return true
  if (scope.by === 'key') return uri === scope.value
  return scope.by === 'tag' ? tags.includes(scope.value) : uri.startsWith(scope.value)
}

function sizeOf(variants: readonly StoredResponse[]): number {
  return variants.reduce((sum, { size }) => sum + size, 0)
}
