import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  headerValue,
  type Reply,
  type Slot,
} from '@sluice/core'
import { answerWith, hitWith, ttlOf } from './answers.js'
import { type CacheLookup, type ForwardReason, openLookup, type Wait } from './cache-lookup.js'
import { InFlightFetch, type WaitResult } from './in-flight-fetch.js'
import { compileKey, compileUri, hasOtherCookies, MAX_KEY_CHARS, uriOf } from './key.js'
import { RequestFacts } from './request-facts.js'
import { ResponseStorer } from './response-storer.js'
import type { SecondTier } from './second-tier.js'
import type { CacheSettings } from './settings.js'
import type { ResponseStore } from './store.js'
import { ageOf, hasValidator, type StoredResponse } from './stored-response.js'
import { allowedUse } from './use.js'

/** Maximum number of times a request waits for others before it goes to the upstream. */
const MAX_WAITS = 3
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

interface CacheQuery {
  readonly facts: RequestFacts
  readonly uri: string
  readonly key: string
  /** Number of times the request has waited. */
  readonly waits: number
}

/**
 * Cache of one use of the policy:
 *
 *     onRequest ─┬─ fresh ─────────────► answered from the store
 *                ├─ already in flight ─► waits for that response, looks again
 *                └─ stale or missing ──► upstream ─► onResponse ─┬─ 304: the stored response is still valid
 *                                                                ├─ failure: stale response if allowed
 *                                                                └─ stored while it streams to the client
 */
export class ResponseCache {
  readonly #settings: CacheSettings
  readonly #store: ResponseStore
  readonly #env: CompileEnv
  readonly #storer: ResponseStorer
  readonly #tier: SecondTier | null
  readonly #lookups: Slot<CacheLookup>
  readonly #waits: Slot<Wait>
  readonly #notCached: Reply
  readonly #uriOf: (x: Exchange) => string
  readonly #keyOf: ReturnType<typeof compileKey>

  /** @param tier cache shared by workers or replicas, or null. */
  constructor(
    settings: CacheSettings,
    env: CompileEnv,
    { store, tier }: { readonly store: ResponseStore; readonly tier: SecondTier | null },
  ) {
    this.#settings = settings
    this.#store = store
    this.#env = env
    this.#storer = new ResponseStorer(settings, store, tier)
    this.#tier = tier
    this.#lookups = env.slot()
    this.#waits = env.slot()
    this.#notCached = env.refusal('GW_NOT_CACHED', 'send the request without only-if-cached')
    this.#uriOf = compileUri(settings.key)
    this.#keyOf = compileKey(settings.key)
  }

  /** Looks for a response. If `POST` is cached, runs after the request body has been received. */
  look(x: Exchange): Eventual {
    // Equal uses in one chain run once, and a retried request has been looked up before.
    if (this.#lookups.get(x) !== undefined) return null
    const facts = new RequestFacts(x)
    const reason = this.#passReason(x, facts)
    if (reason !== null) return this.#forward(x, { facts, uri: '', key: '', waits: 0 }, reason)
    const uri = this.#uriOf(x)
    const key = this.#keyOf(x, uri, facts)
    const look = { facts, uri, key, waits: 0 }
    return key.length > MAX_KEY_CHARS ? this.#forward(x, look, 'bypass') : this.#find(x, look)
  }

  /** Returns the reason to bypass the cache, or null if a stored response may be used. */
  #passReason(x: Exchange, facts: RequestFacts): ForwardReason | null {
    const { methods, rules, key, takesCookies, honorsRequests } = this.#settings
    if (!methods.has(x.method)) return 'method'
    const hasBody = x.method !== 'POST' && x.contentLength !== 0
    if (hasBody || facts.hasPrecondition) return 'bypass'
    if (!takesCookies && hasOtherCookies(facts.cookies, key.cookies)) return 'bypass'
    if (facts.isAuthorized && !rules.keepsAuthorized) return 'bypass'
    return honorsRequests && facts.control.has('no-store') ? 'request' : null
  }

  #find(x: Exchange, look: CacheQuery): Eventual {
    const control = this.#settings.honorsRequests ? look.facts.control : null
    const now = Date.now()
    const stored = this.#store.lookUp(look.key, x.headers)
    const use = stored === null ? 'forward' : allowedUse(stored, control, now)
    if (stored !== null && use !== 'forward') {
      if (use === 'refresh') this.#refresh(x, look, stored)
      const result = use !== 'fresh' ? 'stale' : look.waits > 0 ? 'coalesced' : 'hit'
      this.#store.note(x, result, ageOf(stored, now))
      return this.#answer(stored, look, now)
    }
    if (control?.has('only-if-cached') === true) return this.#notCached
    const isAsked = control !== null && (control.has('no-cache') || control.seconds('max-age') === 0)
    const waiting = isAsked ? null : this.#wait(x, look, now)
    if (waiting !== null) return waiting
    this.#ask(x, look, stored)
    return this.#tier === null ? null : this.#askTier(x, look, this.#tier)
  }

  /** Looks in the second tier, also for the requests that wait for this one. */
  async #askTier(x: Exchange, look: CacheQuery, tier: SecondTier): Promise<Reply | null> {
    const lookup = this.#lookups.get(x)!
    if (lookup.pending === null) return null
    lookup.stamp = await tier.fetch(look.key, look.uri)
    const now = Date.now()
    const stored = this.#store.lookUp(look.key, lookup.headers)
    const control = this.#settings.honorsRequests ? look.facts.control : null
    if (stored === null || allowedUse(stored, control, now) !== 'fresh') return null
    lookup.pending.finish('look')
    this.#store.note(x, 'hit', ageOf(stored, now))
    return this.#answer(stored, look, now)
  }

  #answer(stored: StoredResponse, { facts, waits }: CacheQuery, now: number): Reply {
    const { showsStatus } = this.#settings
    if (waits === 0 && !facts.isConditional) return hitWith(stored, facts, now, showsStatus)
    if (!showsStatus) return answerWith(stored, facts, { now, status: null })
    const status = waits > 0 ? 'fwd=uri-miss; collapsed' : `hit; ttl=${ttlOf(stored, now)}`
    return answerWith(stored, facts, { now, status })
  }

  /** Waits for a request in flight. Returns null if there is none or waiting is not possible. */
  #wait(x: Exchange, look: CacheQuery, now: number): Promise<Reply | null> | null {
    const pending = this.#inFlightFor(look.key, now)
    if (pending === null || look.waits >= MAX_WAITS || this.#store.isPassed(look.key, now)) return null
    return new Promise((resolve, reject) => {
      const settle = (result: WaitResult): void => {
        const next = { ...look, waits: look.waits + 1 }
        try {
          resolve(result === 'look' ? this.#find(x, next) : this.#ask(x, next, null))
        } catch (error) {
          reject(error as Error)
        }
      }
      const waiter = pending.join(this.#settings.coalesce, settle)
      if (waiter === null) resolve(this.#ask(x, look, null))
      else this.#waits.set(x, { pending, waiter })
    })
  }

  /** Sends a request to the upstream, and lets others wait for its response if it can serve them. */
  #ask(x: Exchange, look: CacheQuery, stored: StoredResponse | null): null {
    const { facts, key } = look
    const isKnown = stored !== null || this.#store.has(key)
    const missing = facts.range !== null ? 'partial' : isKnown ? 'vary-miss' : 'uri-miss'
    this.#forward(x, look, stored === null ? missing : 'stale')
    if (x.method === 'HEAD') return null
    const lookup = this.#lookups.get(x)!
    lookup.stored = stored
    if (stored !== null && hasValidator(stored) && x.method !== 'POST') validate(x, lookup, stored)
    const isWhole = lookup.isValidating || !facts.isConditional
    if (isWhole && this.#settings.coalesce.most > 0 && this.#inFlightFor(key, Date.now()) === null)
      this.#lead(lookup)
    return null
  }

  /** Returns the request in flight for a key, or null if there is none or it is overdue. */
  #inFlightFor(key: string, now: number): InFlightFetch | null {
    const pending = this.#store.inFlight.get(key)
    return pending === undefined || pending.isOverdue(now, this.#settings.coalesce) ? null : pending
  }

  #lead(lookup: CacheLookup): void {
    const { inFlight } = this.#store
    const pending = new InFlightFetch(Date.now(), (done) => {
      // Another request may have taken its place.
      if (inFlight.get(lookup.key) === done) inFlight.delete(lookup.key)
    })
    inFlight.set(lookup.key, pending)
    lookup.pending = pending
  }

  #forward(x: Exchange, look: CacheQuery, reason: ForwardReason): null {
    const isMiss = reason !== 'bypass' && reason !== 'method' && reason !== 'request'
    const mayKeep = isMiss && x.method !== 'HEAD'
    this.#lookups.set(x, openLookup(x, { ...look, reason, mayKeep, epoch: this.#store.epoch }))
    return null
  }

  /** Requests a new response in the background, unless a request is in flight. */
  #refresh(x: Exchange, look: CacheQuery, stored: StoredResponse): void {
    if (x.method === 'POST' || this.#inFlightFor(look.key, Date.now()) !== null) return
    this.#env.refresh(x, (copy) => {
      this.#forward(copy, look, 'stale')
      const lookup = this.#lookups.get(copy)!
      lookup.stored = stored
      lookup.isRefresh = true
      removeConditions(copy)
      if (hasValidator(stored)) validate(copy, lookup, stored)
      this.#lead(lookup)
    })
  }

  onResponse(x: Exchange): Reply | null {
    const lookup = this.#lookups.get(x)
    if (lookup === undefined || x.status === 101) return null
    if (lookup.reason === 'method') this.#invalidate(x)
    return this.#storer.handleResponse(x, lookup)
  }

  #invalidate(x: Exchange): void {
    if (SAFE_METHODS.has(x.method) || x.attempts.status === 0 || x.status >= 400) return
    const now = Date.now()
    for (const uri of invalidatedUris(x, this.#uriOf(x))) {
      this.#store.change(uri, now)
      this.#tier?.change(uri)
    }
  }

  onFinish(x: Exchange): void {
    const wait = this.#waits.get(x)
    if (wait !== undefined) wait.pending.leave(wait.waiter)
    const lookup = this.#lookups.get(x)
    if (lookup === undefined) return
    lookup.recording?.cancel()
    lookup.pending?.finish('go')
  }
}

/** Replaces the conditions of the client with those that validate the stored response. */
function validate(x: Exchange, lookup: CacheLookup, { etag, lastModified }: StoredResponse): void {
  removeConditions(x)
  if (etag !== null) x.headers.push('if-none-match', etag)
  if (lastModified !== null) x.headers.push('if-modified-since', lastModified)
  lookup.isValidating = true
}

const CONDITIONS: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since', 'range', 'if-range'])

function removeConditions(x: Exchange): void {
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    if (!CONDITIONS.has(x.headers[i]!)) kept.push(x.headers[i]!, x.headers[i + 1]!)
  }
  x.headers = kept
}

/**
 * Returns the URIs that a successful unsafe request changed: its own, and those of this host that the
 * response names.
 */
function invalidatedUris(x: Exchange, own: string): readonly string[] {
  const uris = [own]
  for (const name of ['location', 'content-location']) {
    const uri = uriNamed(x, headerValue(x.responseHeaders, name))
    if (uri !== null) uris.push(uri)
  }
  return uris
}

/** Returns the named URI, or null if there is none or it is on another host (RFC 9111, 4.4). */
function uriNamed(x: Exchange, reference: string | null): string | null {
  const base = `${x.scheme}://${x.authority}${x.forwardPath}`
  if (reference === null || !URL.canParse(reference, base)) return null
  const url = new URL(reference, base)
  if (url.host !== new URL(base).host) return null
  return uriOf(x.authority, url.pathname, url.search.slice(1))
}
