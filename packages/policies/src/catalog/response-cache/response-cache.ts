import type { CompileEnv, Eventual, Exchange, Reply, Slot } from '@sluice/core'
import { answerWith, ttlOf } from './answers.js'
import { Flight, type Landing } from './flight.js'
import { invalidatedUris } from './invalidation.js'
import { Keeper } from './keeper.js'
import { compileKey, compileUri, hasOtherCookies, MOST_KEY_CHARS } from './key.js'
import { RequestFacts } from './request-facts.js'
import type { SecondTier } from './second-tier.js'
import type { CacheSettings } from './settings.js'
import type { ResponseStore } from './store.js'
import type { StoredResponse } from './stored-response.js'
import { judge } from './use.js'
import { type ForwardReason, Visit, type Wait } from './visit.js'

/** A request waits for others so often, then it goes by itself. */
const MOST_WAITS = 3
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** How a request is looked for. */
interface Look {
  readonly facts: RequestFacts
  readonly uri: string
  readonly key: string
  /** How often it has waited already. */
  readonly waits: number
}

/**
 * One use of the policy:
 *
 *     onRequest ─┬─ fresh ─────────────► answered from the store
 *                ├─ somebody asks ─────► waits for that response, looks again
 *                └─ stale or missing ──► upstream ─► onResponse ─┬─ 304: what is stored holds, and answers
 *                                                                ├─ failure: what is stored answers if it may
 *                                                                └─ kept while it goes to the client
 */
export class ResponseCache {
  readonly #settings: CacheSettings
  readonly #store: ResponseStore
  readonly #env: CompileEnv
  readonly #keeper: Keeper
  readonly #tier: SecondTier | null
  readonly #visits: Slot<Visit>
  readonly #waits: Slot<Wait>
  readonly #notCached: Reply
  readonly #uriOf: (x: Exchange) => string
  readonly #keyOf: ReturnType<typeof compileKey>

  /** @param tier what replicas share; null: nothing. */
  constructor(
    settings: CacheSettings,
    env: CompileEnv,
    { store, tier }: { readonly store: ResponseStore; readonly tier: SecondTier | null },
  ) {
    this.#settings = settings
    this.#store = store
    this.#env = env
    this.#keeper = new Keeper(settings, store, tier)
    this.#tier = tier
    this.#visits = env.slot()
    this.#waits = env.slot()
    this.#notCached = env.refusal('GW_NOT_CACHED', 'send the request without only-if-cached')
    this.#uriOf = compileUri(settings.key)
    this.#keyOf = compileKey(settings.key)
  }

  /** Looks for a response; with `POST` among the methods once the body is there. */
  look(x: Exchange): Eventual {
    // Equal uses in one chain are one step, and a request that is sent again has been looked for.
    if (this.#visits.get(x) !== undefined) return null
    const facts = new RequestFacts(x)
    const reason = this.#passReason(x, facts)
    if (reason !== null) return this.#forward(x, { facts, uri: '', key: '', waits: 0 }, reason)
    const uri = this.#uriOf(x)
    const key = this.#keyOf(x, uri, facts)
    const look = { facts, uri, key, waits: 0 }
    return key.length > MOST_KEY_CHARS ? this.#forward(x, look, 'bypass') : this.#find(x, look)
  }

  /** Null: what is stored may answer. */
  #passReason(x: Exchange, facts: RequestFacts): ForwardReason | null {
    const { methods, rules, key, takesCookies, honorsRequests } = this.#settings
    if (!methods.has(x.method)) return 'method'
    const hasBody = x.method !== 'POST' && x.contentLength !== 0
    if (hasBody || facts.hasPrecondition) return 'bypass'
    if (!takesCookies && hasOtherCookies(facts.cookies, key.cookies)) return 'bypass'
    if (facts.isAuthorized && !rules.keepsAuthorized) return 'bypass'
    return honorsRequests && facts.control.has('no-store') ? 'request' : null
  }

  #find(x: Exchange, look: Look): Eventual {
    const control = this.#settings.honorsRequests ? look.facts.control : null
    const now = Date.now()
    const stored = this.#store.lookUp(look.key, x.headers)
    const use = stored === null ? 'forward' : judge(stored, control, now)
    if (stored !== null && use !== 'forward') {
      if (use === 'refresh') this.#refresh(x, look, stored)
      const result = use !== 'fresh' ? 'stale' : look.waits > 0 ? 'coalesced' : 'hit'
      this.#store.note(x, result, stored.ageAt(now))
      return this.#answer(stored, look, now)
    }
    if (control?.has('only-if-cached') === true) return this.#notCached
    const isAsked = control !== null && (control.has('no-cache') || control.seconds('max-age') === 0)
    const waiting = isAsked ? null : this.#wait(x, look, now)
    if (waiting !== null) return waiting
    this.#ask(x, look, stored)
    return this.#tier === null ? null : this.#askTier(x, look, this.#tier)
  }

  /** Looks among the responses of other replicas, for all who wait for this one. */
  async #askTier(x: Exchange, look: Look, tier: SecondTier): Promise<Reply | null> {
    const visit = this.#visits.get(x)!
    if (visit.flight === null) return null
    visit.stamp = await tier.fetch(look.key, look.uri)
    const now = Date.now()
    const stored = this.#store.lookUp(look.key, visit.headers)
    const control = this.#settings.honorsRequests ? look.facts.control : null
    if (stored === null || judge(stored, control, now) !== 'fresh') return null
    visit.flight.land('look')
    this.#store.note(x, 'hit', stored.ageAt(now))
    return this.#answer(stored, look, now)
  }

  #answer(stored: StoredResponse, { facts, waits }: Look, now: number): Reply {
    if (!this.#settings.showsStatus) return answerWith(stored, facts, { now, status: null })
    const status = waits > 0 ? 'fwd=uri-miss; collapsed' : `hit; ttl=${ttlOf(stored, now)}`
    return answerWith(stored, facts, { now, status })
  }

  /** Null: nobody asks for the same, or there is no waiting for it. */
  #wait(x: Exchange, look: Look, now: number): Promise<Reply | null> | null {
    const flight = this.#flightFor(look.key, now)
    if (flight === null || look.waits >= MOST_WAITS || this.#store.isPassed(look.key, now)) return null
    return new Promise((resolve, reject) => {
      const settle = (landing: Landing): void => {
        const next = { ...look, waits: look.waits + 1 }
        try {
          resolve(landing === 'look' ? this.#find(x, next) : this.#ask(x, next, null))
        } catch (error) {
          reject(error as Error)
        }
      }
      const waiter = flight.join(this.#settings.coalesce, settle)
      if (waiter === null) resolve(this.#ask(x, look, null))
      else this.#waits.set(x, { flight, waiter })
    })
  }

  /** Sends a request to the upstream, and lets others wait for its response where that may serve them. */
  #ask(x: Exchange, look: Look, stored: StoredResponse | null): null {
    const { facts, key } = look
    const isKnown = stored !== null || this.#store.has(key)
    const missing = facts.range !== null ? 'partial' : isKnown ? 'vary-miss' : 'uri-miss'
    this.#forward(x, look, stored === null ? missing : 'stale')
    if (x.method === 'HEAD') return null
    const visit = this.#visits.get(x)!
    visit.stored = stored
    if (stored?.hasValidator === true && x.method !== 'POST') validate(x, visit, stored)
    const isWhole = visit.isValidating || !facts.isConditional
    if (isWhole && this.#settings.coalesce.most > 0 && this.#flightFor(key, Date.now()) === null)
      this.#lead(visit)
    return null
  }

  /** Null: nobody asks for it, or for too long already. */
  #flightFor(key: string, now: number): Flight | null {
    const flight = this.#store.flights.get(key)
    return flight === undefined || flight.isOverdue(now, this.#settings.coalesce) ? null : flight
  }

  #lead(visit: Visit): void {
    const { flights } = this.#store
    const flight = new Flight(Date.now(), (landed) => {
      // Another may have taken its place.
      if (flights.get(visit.key) === landed) flights.delete(visit.key)
    })
    flights.set(visit.key, flight)
    visit.flight = flight
  }

  #forward(x: Exchange, look: Look, reason: ForwardReason): null {
    const isMiss = reason !== 'bypass' && reason !== 'method' && reason !== 'request'
    const mayKeep = isMiss && x.method !== 'HEAD'
    this.#visits.set(x, new Visit(x, { ...look, reason, mayKeep, epoch: this.#store.epoch }))
    return null
  }

  /** Asks for a new response that nobody waits for, unless somebody has. */
  #refresh(x: Exchange, look: Look, stored: StoredResponse): void {
    if (x.method === 'POST' || this.#flightFor(look.key, Date.now()) !== null) return
    this.#env.refresh(x, (copy) => {
      this.#forward(copy, look, 'stale')
      const visit = this.#visits.get(copy)!
      visit.stored = stored
      visit.isRefresh = true
      takeConditions(copy)
      if (stored.hasValidator) validate(copy, visit, stored)
      this.#lead(visit)
    })
  }

  onResponse(x: Exchange): Reply | null {
    const visit = this.#visits.get(x)
    if (visit === undefined || x.status === 101) return null
    if (visit.reason === 'method') this.#invalidate(x)
    return this.#keeper.take(x, visit)
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
    if (wait !== undefined) wait.flight.leave(wait.waiter)
    const visit = this.#visits.get(x)
    if (visit === undefined) return
    visit.recording?.cancel()
    visit.flight?.land('go')
  }
}

/** Asks the upstream whether what is stored still holds, in the place of what the client asks about it. */
function validate(x: Exchange, visit: Visit, { etag, lastModified }: StoredResponse): void {
  takeConditions(x)
  if (etag !== null) x.headers.push('if-none-match', etag)
  if (lastModified !== null) x.headers.push('if-modified-since', lastModified)
  visit.isValidating = true
}

const CONDITIONS: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since', 'range', 'if-range'])

function takeConditions(x: Exchange): void {
  const kept: string[] = []
  for (let i = 0; i < x.headers.length; i += 2) {
    if (!CONDITIONS.has(x.headers[i]!)) kept.push(x.headers[i]!, x.headers[i + 1]!)
  }
  x.headers = kept
}
