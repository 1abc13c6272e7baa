import type { Limit, LimitRule, StateStore } from '@sluice/core'
import type { Granted, LimitStore } from './limit-store.js'

/** Time span in milliseconds: a lease holds at most as many unused tokens as were used in this time. */
const AHEAD_MS = 100
/** Maximum share of the remaining tokens that a lease takes in advance. The rest is for other workers. */
const LEFT_SHARE = 1 / 4
/** Maximum time until a refused key is requested again, in milliseconds. Somebody may have reset it. */
const MAX_UNASKED_MS = 1000
/** Time in milliseconds after a shortage during which requests do not wait for a pending store call. */
const SCARCE_MS = 1000
/** Time in milliseconds after the last request for which a worker remembers that a limit is used up. */
const REMEMBERED_MS = 60_000
/**
 * Minimum interval of the store calls for continuously refilled tokens, in milliseconds. A hot key makes about 40
 * calls a second.
 */
const PIECE_MS = 25
/** Minimum interval of concurrent store calls, as a share of the store's latency. It keeps them few. */
const LATENCY_SHARE = 1 / 4
/**
 * Time in milliseconds for which requests are allowed (`onStoreDown: open`) or refused (`closed`) after a failed
 * store call, without another call.
 */
const UNAVAILABLE_MS = 250
/** Time in milliseconds without requests after which unused tokens of a key are returned. */
const IDLE_MS = 200

/** Decisions of a lease about a request. */
export const VERDICT = { allowed: 0, refused: 1, unknown: 2, unavailable: 3 } as const

/** Decision of a lease: a value of VERDICT. */
export type Verdict = (typeof VERDICT)[keyof typeof VERDICT]

/**
 * Tokens of one key and limit that this worker has taken from the store but not yet used. They are subtracted from
 * the store before this worker admits requests with them. So all workers together never exceed the limit.
 */
export class Lease {
  /** Number of tokens. Negative if requests turned out to cost more than available. */
  tokens = 0
  /** Remaining tokens in the store at the last call. */
  remaining = 0
  /** Monotonic time at which all tokens are available again, or the window ends. */
  resetMono = 0
  readonly #limit: Limit
  readonly #name: string
  readonly #store: LimitStore
  #source: StateStore | null = null
  /** Monotonic time at which the store has one more token. */
  #retryMono = 0
  #validUntilMono = Number.POSITIVE_INFINITY
  /** True while the store is short of tokens: it had fewer than requested and has not had plenty since. */
  #isShort = false
  #refusedMono = Number.NEGATIVE_INFINITY
  #answeredMono = 0
  /** Time before which the store has no tokens, according to its last response. */
  #refusedUntilMono = 0
  /** Time before which a key that is short of tokens is not requested again. */
  #unaskedUntilMono = 0
  #unavailableUntilMono = 0
  /** Low-water mark: if fewer tokens than this are held or requested, more are fetched in advance. */
  #lowWater = 0
  /** Number of pending store calls, the last of them, and the tokens that they request. */
  #pendingCalls = 0
  #lastCall: Promise<void> | null = null
  #coming = 0
  #isGivenBack = false
  /** Tokens that waiting requests need. */
  #demand = 0
  /**
   * Tokens that requests have asked for since the last store call, admitted or not, and the resulting pace per
   * millisecond.
   */
  #wanted = 0
  #pace = 0
  #askedMono = 0
  #wantedMono = 0

  /** Creates an empty lease. @param name name of the counter in the store. */
  constructor(limit: Limit, name: string, store: LimitStore) {
    this.#limit = limit
    this.#name = name
    this.#store = store
  }

  /** Decides about a request. Call `use` with its cost if it is allowed. */
  verdict(cost: number, nowMono: number): Verdict {
    if (nowMono >= this.#validUntilMono) this.#endWindow()
    if (this.tokens >= cost) return VERDICT.allowed
    const rule = this.#limit.rule(Date.now())
    if (cost > mostOf(rule)) return VERDICT.refused
    if (nowMono < this.#refusedUntilMono || this.#isHopeless(cost, rule, nowMono)) return VERDICT.refused
    return nowMono < this.#unavailableUntilMono ? VERDICT.unavailable : VERDICT.unknown
  }

  /**
   * Returns the monotonic time at which a refused request with this cost can pass if no other takes tokens. With
   * `sliding` it is an estimate, which assumes that the previous window used up the limit.
   */
  retryMonoFor(cost: number, nowMono: number): number {
    const rule = this.#limit.rule(Date.now())
    if (cost > mostOf(rule)) return nowMono + MAX_UNASKED_MS
    if (rule.algorithm === 'fixed') return this.#retryMono
    const missing = Math.ceil(cost - this.tokens - this.remaining)
    return this.#retryMono + (Math.max(1, missing) - 1) * (rule.periodMs / rule.limit)
  }

  /** Records the cost of a request, admitted or not. It determines the size of leases. */
  want(cost: number, nowMono: number): void {
    this.#wanted += cost
    this.#wantedMono = nowMono
  }

  use(cost: number, nowMono: number): void {
    this.tokens -= cost
    if (this.tokens + this.#coming < this.#lowWater) this.fetch(nowMono)
  }

  /** Requests tokens in advance, unless the last call was too recent. */
  fetch(nowMono: number): void {
    if (nowMono < this.#unaskedUntilMono || nowMono < this.#unavailableUntilMono) return
    const apartMs = Math.max(PIECE_MS, this.#store.latencyMs * LATENCY_SHARE)
    if (this.#pendingCalls > 0 && nowMono - this.#askedMono < apartMs) return
    if (!this.#isShort) this.#ask(0, nowMono)
    else {
      // A store that is short of tokens grants what it has, and other workers need some too.
      const usedMs = AHEAD_MS + this.#store.latencyMs
      const wanted = this.#wanted * Math.min(1, usedMs / Math.max(1, nowMono - this.#askedMono))
      this.#ask(wanted + Math.max(0, this.tokens) + this.#coming, nowMono)
    }
  }

  /**
   * Charges the difference between the actual and the charged cost of a request. Limits the debt to what the limit
   * can ever grant.
   */
  settle(more: number): void {
    this.tokens = Math.max(this.tokens - more, -mostOf(this.#limit.rule(Date.now())))
  }

  /**
   * Resolves when the store has responded. Concurrent requests share one call. After waiting, call `leave` in the
   * same turn of the event loop as the next `take` or `wait`, so that a second call covers all requests still
   * waiting.
   */
  wait(cost: number): Promise<void> | null {
    this.#demand += cost
    if (this.#pendingCalls === 0) this.#ask(this.#demand, performance.now())
    return this.#lastCall
  }

  leave(cost: number): void {
    this.#demand -= cost
  }

  /** True if there were no recent requests, so no tokens need to be held. */
  isIdle(nowMono: number): boolean {
    if (this.#pendingCalls > 0 || nowMono - this.#wantedMono < IDLE_MS) return false
    return this.tokens >= 0 && nowMono >= this.#unavailableUntilMono
  }

  /** Returns true if this lease still saves store calls, because it knows that the limit is used up. */
  isRemembered(nowMono: number): boolean {
    return nowMono < this.#refusedUntilMono && nowMono - this.#wantedMono < REMEMBERED_MS
  }

  /** Pays a debt to the store, even without new requests. */
  payDebt(nowMono: number): void {
    const isPossible = nowMono >= this.#refusedUntilMono && nowMono >= this.#unavailableUntilMono
    if (this.tokens < 0 && this.#pendingCalls === 0 && isPossible) this.#ask(0, nowMono)
  }

  /** Closes the lease: returns unused tokens or pays its debt. */
  close(nowMono: number): void {
    this.#isGivenBack = true
    this.giveBack(nowMono)
  }

  /** Returns unused tokens to the store or pays the debt. */
  giveBack(nowMono: number): void {
    if (nowMono >= this.#validUntilMono) this.#endWindow()
    const amount = Math.floor(this.tokens)
    if (amount === 0 || this.#source === null) return
    this.tokens = 0
    const rule = this.#limit.rule(Date.now())
    if (amount > 0) this.remaining += amount
    const done: Promise<unknown> =
      amount > 0
        ? this.#source.giveBack(this.#name, rule, amount)
        : this.#source.take(this.#name, rule, -amount)
    // The tokens are lost if the store does not respond.
    done.catch(() => {})
  }

  /** Returns true if waiting for the store would most likely end with a refusal. */
  #isHopeless(cost: number, rule: LimitRule, nowMono: number): boolean {
    const { latencyMs } = this.#store
    const perMs = rule.limit / rule.periodMs
    const most = mostOf(rule) + perMs * latencyMs
    const unansweredMs = nowMono - this.#answeredMono
    // Demand exceeds supply, and the next response is pending.
    const isScarce = nowMono - this.#refusedMono < SCARCE_MS
    if (isScarce && this.#coming > 0 && unansweredMs < 2 * latencyMs + PIECE_MS) return true
    if (!this.#isShort) return this.#demand + cost > most
    const gathered = rule.algorithm === 'gcra' ? this.remaining + perMs * unansweredMs + 1 : most
    return this.#demand + cost > Math.min(gathered, most)
  }

  #endWindow(): void {
    // A debt remains.
    this.tokens = Math.min(this.tokens, 0)
    this.remaining = mostOf(this.#limit.rule(Date.now()))
    this.#lowWater = 0
    this.#isShort = false
    this.#refusedMono = Number.NEGATIVE_INFINITY
    this.#refusedUntilMono = 0
    this.#unaskedUntilMono = 0
    this.#validUntilMono = Number.POSITIVE_INFINITY
  }

  /** Requests tokens from the store for waiting requests and for the recent pace. */
  #ask(demand: number, nowMono: number): void {
    this.#measurePace(nowMono)
    const rule = this.#limit.rule(Date.now())
    const known = this.tokens + this.#coming
    // Continuously refilled tokens replace those that were requested already.
    const isEven = rule.algorithm === 'gcra'
    const there = isEven ? this.remaining : Math.max(0, this.remaining - this.#coming)
    const spare = Math.floor(Math.min(this.#pace * AHEAD_MS, there * LEFT_SHARE))
    // These tokens are used before the next response, so they are not idle.
    const flow = Math.round(this.#pace * this.#store.latencyMs)
    const used = isEven ? flow : Math.min(flow, there - spare)
    const amount = Math.ceil(Math.max(demand, spare + used) - known)
    const lowWater = Math.ceil(spare / 2 + used)
    this.#lowWater = amount < 1 ? Math.min(lowWater, known) : lowWater
    if (amount < 1) return
    const asked = { amount, rule, askedMono: nowMono, lowWater }
    this.#coming += amount
    this.#pendingCalls++
    const call = this.#store.take(this.#name, rule, amount).then((granted) => {
      this.#coming -= amount
      this.#pendingCalls--
      if (this.#lastCall === call) this.#lastCall = null
      if (granted === null) this.#miss(performance.now())
      else this.#receive(granted, asked)
      if (this.#isGivenBack && this.#demand === 0) this.giveBack(performance.now())
    })
    this.#lastCall = call
  }

  /** Called if no store responds: nothing is known then. */
  #miss(nowMono: number): void {
    this.#unavailableUntilMono = nowMono + UNAVAILABLE_MS
    this.#refusedMono = Number.NEGATIVE_INFINITY
    this.#refusedUntilMono = 0
    this.#isShort = false
  }

  #receive(
    { granted, remaining, retryAfterMs, resetMs, source }: Granted,
    asked: {
      readonly amount: number
      readonly rule: LimitRule
      readonly askedMono: number
      readonly lowWater: number
    },
  ): void {
    const { rule, askedMono } = asked
    const now = performance.now()
    if (source !== this.#source) this.#giveUpSource(now)
    else if (now >= this.#validUntilMono) this.#endWindow()
    this.#source = source
    this.tokens += granted
    this.remaining = remaining
    this.resetMono = now + resetMs
    this.#answeredMono = now
    // Most likely, half of the time had passed when the store read its clock. Requests that waited for the response
    // can use it in any case.
    if (rule.algorithm !== 'gcra') this.#validUntilMono = Math.max((askedMono + now) / 2 + resetMs, now + 1)
    this.#unavailableUntilMono = 0
    this.#refusedUntilMono = 0
    this.#unaskedUntilMono = 0
    this.#lowWater = asked.lowWater
    const isRefused = granted < asked.amount
    this.#isShort = isRefused || (this.#isShort && remaining < asked.amount)
    if (!isRefused && rule.algorithm === 'gcra') this.#retryMono = now + rule.periodMs / rule.limit
    if (this.#isShort) this.#pause(isRefused ? retryAfterMs : 0, pieceMs(rule))
  }

  /** Pauses store calls because few or no tokens are left. */
  #pause(retryAfterMs: number, leastMs: number): void {
    const now = performance.now()
    const pauseMs = Math.max(retryAfterMs, leastMs)
    this.#lowWater = Number.POSITIVE_INFINITY
    if (retryAfterMs > 0) {
      this.#retryMono = now + retryAfterMs
      this.#refusedMono = now
      this.#refusedUntilMono = now + pauseMs
    }
    // A call sent at this time reaches the store when its tokens are available.
    this.#unaskedUntilMono = now + Math.min(pauseMs - this.#store.latencyMs, MAX_UNASKED_MS)
  }

  /** Switches to another store and returns the leased tokens to the previous one. */
  #giveUpSource(nowMono: number): void {
    if (this.tokens > 0) this.giveBack(nowMono)
    this.#endWindow()
  }

  #measurePace(nowMono: number): void {
    const elapsedMs = Math.max(1, nowMono - this.#askedMono)
    // After a pause the old pace is meaningless.
    const recent = this.#wanted / elapsedMs
    this.#pace = elapsedMs > 10 * AHEAD_MS ? recent : (this.#pace + recent) / 2
    this.#wanted = 0
    this.#askedMono = nowMono
  }
}

/** Returns the maximum number of available tokens. */
function mostOf({ algorithm, burst, limit }: LimitRule): number {
  return algorithm === 'gcra' ? burst : limit
}

/** Returns the time for which tokens may accumulate in the store without being lost, in milliseconds. */
function pieceMs({ algorithm, burst, limit, periodMs }: LimitRule): number {
  const gatheredMs = algorithm === 'gcra' ? (burst / limit) * periodMs : periodMs
  return Math.min(PIECE_MS, gatheredMs / 4)
}
