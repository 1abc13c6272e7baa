import { type Exchange, headerValue, type Reply, removeHeader } from '@sluice/core'
import { addCacheStatus, answerWith, ttlOf } from './answers.js'
import { isSame } from './conditions.js'
import { type Freshness, freshnessOf } from './freshness.js'
import { Recording } from './recording.js'
import type { SecondTier } from './second-tier.js'
import type { CacheSettings } from './settings.js'
import type { CacheResult, ResponseStore } from './store.js'
import { keptHeaders, mergedHeaders, ownBytes, StoredResponse, tagsOf, varyValue } from './stored-response.js'
import type { Visit } from './visit.js'

/** How long requests do not wait for each other after a response that could not be kept. */
const PASS_MS = 2000
/** Statuses of an upstream that does not work (RFC 5861, 4). */
const FAILED_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 504])

/** The message of the upstream that is judged. */
interface Received {
  readonly status: number
  readonly headers: readonly string[]
  /** Wall clock, ms. */
  readonly now: number
}

/** What the cache does with what comes back from the upstream. */
export class Keeper {
  readonly #settings: CacheSettings
  readonly #store: ResponseStore
  readonly #tier: SecondTier | null

  constructor(settings: CacheSettings, store: ResponseStore, tier: SecondTier | null) {
    this.#settings = settings
    this.#store = store
    this.#tier = tier
  }

  /** Not null: what is stored answers in its place. */
  take(x: Exchange, visit: Visit): Reply | null {
    const { stored } = visit
    const isAnswered = x.attempts.status !== 0 && x.errorCode === ''
    const hasFailed = isAnswered ? FAILED_STATUSES.has(x.status) : x.errorCode.startsWith('GW_UPSTREAM')
    if (hasFailed && stored !== null && mayServeStale(stored)) return this.#answerStale(x, visit, stored)
    if (!isAnswered) {
      visit.flight?.land('go')
      return null
    }
    if (x.status === 304 && visit.isValidating) return this.#revalidate(x, visit, stored!)
    this.#keep(x, visit)
    return null
  }

  #answerStale(x: Exchange, visit: Visit, stored: StoredResponse): Reply {
    const now = Date.now()
    this.#note(x, visit, { result: 'stale', ageMs: stored.ageAt(now) })
    visit.flight?.land('go')
    const { facts } = visit
    return answerWith(stored, facts, {
      now,
      status: this.#shown(`hit; ttl=${ttlOf(stored, now)}; fwd=stale`),
    })
  }

  /** The upstream says that what is stored still holds (RFC 9111, 4.3.4). */
  #revalidate(x: Exchange, visit: Visit, stored: StoredResponse): Reply {
    const now = Date.now()
    const headers = mergedHeaders(stored.headers, x.responseHeaders)
    const isOther = !isSame(stored, headerValue(x.responseHeaders, 'etag'))
    const freshness = isOther ? null : this.#freshnessOf(x, visit, { status: stored.status, headers, now })
    const updated = freshness === null ? stored : stored.updatedBy(headers, freshness, now)
    if (freshness === null) this.#store.remove(stored)
    else if (this.#isCurrent(visit)) this.#put(visit, updated)
    this.#land(visit, freshness !== null && isUsable(freshness))
    this.#note(x, visit, { result: 'revalidated', ageMs: updated.ageAt(now) })
    return answerWith(updated, visit.facts, { now, status: this.#shown('fwd=stale; fwd-status=304') })
  }

  #keep(x: Exchange, visit: Visit): void {
    const freshness = visit.mayKeep ? this.#storableAs(x, visit) : null
    const tags = tagsOf(x.responseHeaders)
    const isPassed = visit.reason === 'bypass' || visit.reason === 'method' || visit.reason === 'request'
    this.#note(x, visit, { result: isPassed ? 'bypass' : 'miss', ageMs: 0 })
    if (freshness === null) this.#land(visit, false)
    else this.#record(x, visit, { freshness, tags })
    removeHeader(x.responseHeaders, 'surrogate-key')
    const isKept = freshness === null ? '' : '; stored'
    if (this.#settings.showsStatus) addCacheStatus(x, `fwd=${visit.reason}${isKept}`)
  }

  #storableAs(x: Exchange, visit: Visit): Freshness | null {
    // A filter of a step behind the cache changes what clients get, and nobody would on a hit.
    if (x.responseFilters !== null) return null
    if (!x.attempts.isDelimited || x.responseLength > this.#settings.maxObject) return null
    // Somebody behind the cache has decided who that is.
    if (x.identifications !== visit.identifications || !this.#isCurrent(visit)) return null
    if ((x.consumer?.id ?? null) !== visit.consumer) return null
    return this.#freshnessOf(x, visit, { status: x.status, headers: x.responseHeaders, now: Date.now() })
  }

  #freshnessOf(x: Exchange, visit: Visit, { status, headers, now }: Received): Freshness | null {
    const facts = {
      status,
      headers,
      date: headerValue(x.attempts.fields, 'date'),
      isAuthorized: visit.facts.isAuthorized,
      requestedAt: visit.requestedAt,
      receivedAt: now,
    }
    return freshnessOf(facts, this.#settings.rules)
  }

  /** Nothing was purged or changed since it was asked for. */
  #isCurrent({ uri, epoch, requestedAt }: Visit): boolean {
    return this.#store.isCurrent(uri, epoch, requestedAt)
  }

  #record(x: Exchange, visit: Visit, kept: Pick<StoredResponse, 'freshness' | 'tags'>): void {
    const { uri, key } = visit
    const { freshness } = kept
    const parts = {
      ...kept,
      ...{ key, uri, status: x.status, receivedAt: Date.now() },
      headers: keptHeaders(x.responseHeaders, freshness.unkept),
      varyValues: freshness.vary.map((name) => varyValue(visit.headers, name)),
    }
    const onGivenUp = (): void => this.#land(visit, false)
    const onRecorded = (bytes: Uint8Array): void => {
      if (this.#isCurrent(visit)) this.#put(visit, new StoredResponse({ ...parts, body: ownBytes(bytes) }))
      this.#land(visit, isUsable(freshness))
    }
    const { maxObject } = this.#settings
    if (x.responseBody === null) {
      const bounds = { maxBytes: maxObject, length: x.responseLength }
      visit.recording = new Recording(this.#store, { onRecorded, onGivenUp }, bounds)
      x.responseTap = visit.recording
    } else if (x.responseBody.length <= maxObject) onRecorded(x.responseBody)
    else onGivenUp()
  }

  #put({ stamp }: Visit, stored: StoredResponse): void {
    this.#store.put(stored)
    if (stamp !== null && isUsable(stored.freshness)) this.#tier?.put(stored, stamp)
  }

  /** Those who wait look again, or go by themselves; those who come next do not wait for what cannot be kept. */
  #land({ flight, key }: Visit, hasAnswer: boolean): void {
    if (flight === null) return
    if (!hasAnswer && flight.waiting > 0) this.#store.passUntil(key, Date.now() + PASS_MS)
    flight.land(hasAnswer ? 'look' : 'go')
  }

  #note(x: Exchange, visit: Visit, served: { readonly result: CacheResult; readonly ageMs: number }): void {
    if (!visit.isRefresh) this.#store.note(x, served.result, served.ageMs)
  }

  #shown(status: string): string | null {
    return this.#settings.showsStatus ? status : null
  }
}

function mayServeStale(stored: StoredResponse): boolean {
  const { lifetimeMs, mustRevalidate, staleIfErrorMs } = stored.freshness
  return !mustRevalidate && staleIfErrorMs > 0 && stored.ageAt(Date.now()) - lifetimeMs <= staleIfErrorMs
}

/** Whether it answers the next request as it is. */
function isUsable({ lifetimeMs, initialAgeMs, isAlwaysValidated }: Freshness): boolean {
  return lifetimeMs > initialAgeMs && !isAlwaysValidated
}
