import { type Exchange, headerValue, type Reply, removeHeader } from '@sluice/core'
import { addCacheStatus, answerWith, ttlOf } from './answers.js'
import type { CacheLookup } from './cache-lookup.js'
import { isSame } from './conditions.js'
import { type Freshness, freshnessOf } from './freshness.js'
import { Recording } from './recording.js'
import type { SecondTier } from './second-tier.js'
import type { CacheSettings } from './settings.js'
import type { CacheResult, ResponseStore } from './store.js'
import {
  ageOf,
  keptHeaders,
  mergedHeaders,
  ownBytes,
  type StoredResponse,
  storedResponse,
  tagsOf,
  updatedBy,
  varyValue,
} from './stored-response.js'

/** Statuses of a failing upstream (RFC 5861, 4). */
const FAILED_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 504])

/** The upstream response whose freshness is computed. */
interface Received {
  readonly status: number
  readonly headers: readonly string[]
  /** Wall clock time in milliseconds. */
  readonly now: number
}

/** Stores upstream responses, and replaces them with stored ones where required. */
export class ResponseStorer {
  readonly #settings: CacheSettings
  readonly #store: ResponseStore
  readonly #tier: SecondTier | null

  constructor(settings: CacheSettings, store: ResponseStore, tier: SecondTier | null) {
    this.#settings = settings
    this.#store = store
    this.#tier = tier
  }

  /** Handles an upstream response. Returns a stored response to send in its place, or null. */
  handleResponse(x: Exchange, lookup: CacheLookup): Reply | null {
    const { stored } = lookup
    const isAnswered = x.attempts.status !== 0 && x.errorCode === ''
    const hasFailed = isAnswered ? FAILED_STATUSES.has(x.status) : x.errorCode.startsWith('GW_UPSTREAM')
    if (hasFailed && stored !== null && mayServeStale(stored)) return this.#answerStale(x, lookup, stored)
    if (!isAnswered) {
      lookup.pending?.finish('go')
      return null
    }
    if (x.status === 304 && lookup.isValidating) return this.#revalidate(x, lookup, stored!)
    this.#keep(x, lookup)
    return null
  }

  #answerStale(x: Exchange, lookup: CacheLookup, stored: StoredResponse): Reply {
    const now = Date.now()
    this.#note(x, lookup, { result: 'stale', ageMs: ageOf(stored, now) })
    lookup.pending?.finish('go')
    const { facts } = lookup
    return answerWith(stored, facts, {
      now,
      status: this.#shown(`hit; ttl=${ttlOf(stored, now)}; fwd=stale`),
    })
  }

  /** Reuses the stored response after a 304 (RFC 9111, 4.3.4). */
  #revalidate(x: Exchange, lookup: CacheLookup, stored: StoredResponse): Reply {
    const now = Date.now()
    const headers = mergedHeaders(stored.headers, x.responseHeaders)
    const isOther = !isSame(stored, headerValue(x.responseHeaders, 'etag'))
    const freshness = isOther ? null : this.#freshnessOf(x, lookup, { status: stored.status, headers, now })
    const updated = freshness === null ? stored : updatedBy(stored, headers, { freshness, receivedAt: now })
    if (freshness === null) this.#store.remove(stored)
    else if (this.#isCurrent(lookup)) this.#put(lookup, updated)
    this.#finish(lookup, freshness !== null && isUsable(freshness))
    this.#note(x, lookup, { result: 'revalidated', ageMs: ageOf(updated, now) })
    return answerWith(updated, lookup.facts, { now, status: this.#shown('fwd=stale; fwd-status=304') })
  }

  #keep(x: Exchange, lookup: CacheLookup): void {
    const freshness = lookup.mayKeep ? this.#storableAs(x, lookup) : null
    const tags = tagsOf(x.responseHeaders)
    const isPassed = lookup.reason === 'bypass' || lookup.reason === 'method' || lookup.reason === 'request'
    this.#note(x, lookup, { result: isPassed ? 'bypass' : 'miss', ageMs: 0 })
    if (freshness === null) this.#finish(lookup, false)
    else this.#record(x, lookup, { freshness, tags })
    removeHeader(x.responseHeaders, 'surrogate-key')
    const isKept = freshness === null ? '' : '; stored'
    if (this.#settings.showsStatus) addCacheStatus(x, `fwd=${lookup.reason}${isKept}`)
  }

  #storableAs(x: Exchange, lookup: CacheLookup): Freshness | null {
    // A response filter of a later policy changes the response, and would not run on a cache hit.
    if (x.responseFilters !== null) return null
    if (!x.attempts.isDelimited || x.responseLength > this.#settings.maxObjectBytes) return null
    // A later policy has identified the consumer, so the response may depend on the consumer.
    if (x.identifications !== lookup.identifications || !this.#isCurrent(lookup)) return null
    if ((x.consumer?.id ?? null) !== lookup.consumer) return null
    return this.#freshnessOf(x, lookup, { status: x.status, headers: x.responseHeaders, now: Date.now() })
  }

  #freshnessOf(x: Exchange, lookup: CacheLookup, { status, headers, now }: Received): Freshness | null {
    const facts = {
      status,
      headers,
      date: headerValue(x.attempts.fields, 'date'),
      isAuthorized: lookup.facts.isAuthorized,
      requestedAt: lookup.requestedAt,
      receivedAt: now,
    }
    return freshnessOf(facts, this.#settings.rules)
  }

  /** Returns true if nothing was purged or changed since the request was sent. */
  #isCurrent({ uri, epoch, requestedAt }: CacheLookup): boolean {
    return this.#store.isCurrent(uri, epoch, requestedAt)
  }

  #record(x: Exchange, lookup: CacheLookup, kept: Pick<StoredResponse, 'freshness' | 'tags'>): void {
    const { uri, key } = lookup
    const { freshness } = kept
    const parts = {
      ...kept,
      ...{ key, uri, status: x.status, receivedAt: Date.now() },
      headers: keptHeaders(x.responseHeaders, freshness.unstored),
      varyValues: freshness.vary.map((name) => varyValue(lookup.headers, name)),
    }
    const onGivenUp = (): void => this.#finish(lookup, false)
    const onRecorded = (bytes: Uint8Array): void => {
      if (this.#isCurrent(lookup)) this.#put(lookup, storedResponse({ ...parts, body: ownBytes(bytes) }))
      this.#finish(lookup, isUsable(freshness))
    }
    const { maxObjectBytes } = this.#settings
    if (x.responseBody === null) {
      const bounds = { maxBytes: maxObjectBytes, length: x.responseLength }
      lookup.recording = new Recording(this.#store, { onRecorded, onGivenUp }, bounds)
      x.responseTap = lookup.recording
    } else if (x.responseBody.length <= maxObjectBytes) onRecorded(x.responseBody)
    else onGivenUp()
  }

  #put({ stamp }: CacheLookup, stored: StoredResponse): void {
    this.#store.put(stored)
    if (stamp !== null && isUsable(stored.freshness)) this.#tier?.put(stored, stamp)
  }

  /**
   * Lets waiting requests look in the cache again or go to the upstream. After an uncacheable response, later
   * requests do not wait.
   */
  #finish({ pending, key }: CacheLookup, hasAnswer: boolean): void {
    if (pending === null) return
    if (!hasAnswer && pending.waiting > 0) this.#store.pass(key, Date.now())
    pending.finish(hasAnswer ? 'look' : 'go')
  }

  #note(
    x: Exchange,
    lookup: CacheLookup,
    served: { readonly result: CacheResult; readonly ageMs: number },
  ): void {
    if (!lookup.isRefresh) this.#store.note(x, served.result, served.ageMs)
  }

  #shown(status: string): string | null {
    return this.#settings.showsStatus ? status : null
  }
}

function mayServeStale(stored: StoredResponse): boolean {
  const { lifetimeMs, mustRevalidate, staleIfErrorMs } = stored.freshness
  return !mustRevalidate && staleIfErrorMs > 0 && ageOf(stored, Date.now()) - lifetimeMs <= staleIfErrorMs
}

/** True if it can serve the next request without validation. */
function isUsable({ lifetimeMs, initialAgeMs, isAlwaysValidated }: Freshness): boolean {
  return lifetimeMs > initialAgeMs && !isAlwaysValidated
}
