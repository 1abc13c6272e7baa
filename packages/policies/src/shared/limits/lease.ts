import type { Limit, LimitRule, StateStore } from '@sluice/core'
import type { Granted, LimitStore } from './limit-store.js'

/** A lease holds what was used in so long before; so much is the most that it holds unused. */
const AHEAD_MS = 100
/** A lease takes no more ahead than this part of what is left: the rest is for other workers. */
const LEFT_SHARE = 1 / 4
/** A key that was refused is asked for again after so long at the latest: somebody may have reset it. */
const MAX_UNASKED_MS = 1000
/** Time in milliseconds after a shortage during which requests do not wait for a pending store call. */
const SCARCE_MS = 1000
/** A worker remembers so long after the last request that a limit is used up. */
const REMEMBERED_MS = 60_000
/** Tokens that come evenly are asked for in pieces, so that a hot key costs some 40 questions a second. */
const PIECE_MS = 25
/** Questions under way are at least this part of the store's latency apart, so that they are few. */
const LATENCY_SHARE = 1 / 4
/** Requests that are allowed without asking while no store answers (`onStoreDown: open`), or refused (`closed`). */
const UNAVAILABLE_MS = 250
/** Unused tokens of a key that nobody has asked for in so long go back. */
const IDLE_MS = 200

/** What a lease says to a request. */
export const VERDICT = { allowed: 0, refused: 1, unknown: 2, unavailable: 3 } as const

/** One of VERDICT. */
export type Verdict = (typeof VERDICT)[keyof typeof VERDICT]

/**
 * Tokens of one key and limit that this worker has taken from the store and not used yet. They were subtracted there
 * before anything is admitted with them here, so that all workers together admit no more than the limit.
 */
export class Lease {
  /** Negative: requests that turned out to cost more than was there. */
  tokens = 0
  /** Of the store, when it was asked last. */
  remaining = 0
  /** When all tokens are there again, or the window ends. */
  resetMono = 0
  /** When the store has one more. */
  retryMono = 0
  readonly #limit: Limit
  readonly #name: string
  readonly #store: LimitStore
  #source: StateStore | null = null
  #validUntilMono = Number.POSITIVE_INFINITY
  /** The store had less than was asked for, and has not had plenty since. */
  #isShort = false
  #refusedMono = Number.NEGATIVE_INFINITY
  #answeredMono = 0
  /** Time before which the store has no tokens, according to its last response. */
  #refusedUntilMono = 0
  /** The next question of a key that is short is not asked before. */
  #unaskedUntilMono = 0
  #unavailableUntilMono = 0
  /** Fewer tokens than this, with those that are on their way: more are fetched before they are needed. */
  #lowWater = 0
  /** Questions under way, the last of them, and the tokens that they ask for. */
  #questions = 0
  #lastQuestion: Promise<void> | null = null
  #coming = 0
  #isGivenBack = false
  /** What those who wait need. */
  #demand = 0
  /** What requests wanted since the last question, admitted or not; and the pace that follows, per ms. */
  #wanted = 0
  #pace = 0
  #askedMono = 0
  #wantedMono = 0

  /** @param name of the counter in the store. */
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
    if (cost > mostOf(rule)) {
      this.retryMono = nowMono + MAX_UNASKED_MS
      return VERDICT.refused
    }
    if (nowMono < this.#refusedUntilMono || this.#isHopeless(cost, rule, nowMono)) return VERDICT.refused
    return nowMono < this.#unavailableUntilMono ? VERDICT.unavailable : VERDICT.unknown
  }

  /** A request wants this much, whatever becomes of it: leases are sized by that. */
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
    if (this.#questions > 0 && nowMono - this.#askedMono < apartMs) return
    if (!this.#isShort) this.#ask(0, nowMono)
    else {
      // A store that is short gives what it has; others want some of it too.
      const usedMs = AHEAD_MS + this.#store.latencyMs
      const wanted = this.#wanted * Math.min(1, usedMs / Math.max(1, nowMono - this.#askedMono))
      this.#ask(wanted + Math.max(0, this.tokens) + this.#coming, nowMono)
    }
  }

  /** A request has cost more, or less, than it used. A debt is no larger than what the limit can ever give. */
  settle(more: number): void {
    this.tokens = Math.max(this.tokens - more, -mostOf(this.#limit.rule(Date.now())))
  }

  /**
   * Resolves when the store has answered; all who wait at the same time ask one question. Who has waited must `leave` in
   * the turn in which it takes or waits again, so that a second question covers all whom the first did not.
   */
  wait(cost: number): Promise<void> | null {
    this.#demand += cost
    if (this.#questions === 0) this.#ask(this.#demand, performance.now())
    return this.#lastQuestion
  }

  leave(cost: number): void {
    this.#demand -= cost
  }

  /** True if there were no recent requests, so no tokens need to be held. */
  isIdle(nowMono: number): boolean {
    if (this.#questions > 0 || nowMono - this.#wantedMono < IDLE_MS) return false
    return this.tokens >= 0 && nowMono >= this.#unavailableUntilMono
  }

  /** True if a request would be refused that could not be without this lease but by asking the store. */
  isRemembered(nowMono: number): boolean {
    return nowMono < this.#refusedUntilMono && nowMono - this.#wantedMono < REMEMBERED_MS
  }

  /** Takes what is owed from the store, though nobody asks for more. */
  payDebt(nowMono: number): void {
    const isPossible = nowMono >= this.#refusedUntilMono && nowMono >= this.#unavailableUntilMono
    if (this.tokens < 0 && this.#questions === 0 && isPossible) this.#ask(0, nowMono)
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
    const done: Promise<unknown> =
      amount > 0
        ? this.#source.giveBack(this.#name, rule, amount)
        : this.#source.take(this.#name, rule, -amount)
    // Lost where the store does not answer.
    done.catch(() => {})
  }

  /** True if waiting for the store would most likely end with a refusal. */
  #isHopeless(cost: number, rule: LimitRule, nowMono: number): boolean {
    const { latencyMs } = this.#store
    const perMs = rule.limit / rule.periodMs
    const most = mostOf(rule) + perMs * latencyMs
    const unansweredMs = nowMono - this.#answeredMono
    // More is wanted than there is, and the next answer is on its way.
    const isScarce = nowMono - this.#refusedMono < SCARCE_MS
    if (isScarce && this.#coming > 0 && unansweredMs < 2 * latencyMs + PIECE_MS) return true
    if (!this.#isShort) return this.#demand + cost > most
    const gathered = rule.algorithm === 'gcra' ? this.remaining + perMs * unansweredMs + 1 : most
    return this.#demand + cost > Math.min(gathered, most)
  }

  #endWindow(): void {
    // What is owed stays owed.
    this.tokens = Math.min(this.tokens, 0)
    this.remaining = mostOf(this.#limit.rule(Date.now()))
    this.#lowWater = 0
    this.#isShort = false
    this.#refusedMono = Number.NEGATIVE_INFINITY
    this.#refusedUntilMono = 0
    this.#unaskedUntilMono = 0
    this.#validUntilMono = Number.POSITIVE_INFINITY
  }

  /** Asks the store for what is needed now, and for what the pace of late says. */
  #ask(demand: number, nowMono: number): void {
    this.#measurePace(nowMono)
    const rule = this.#limit.rule(Date.now())
    const known = this.tokens + this.#coming
    // Evenly coming tokens take the place of those that are on their way.
    const isEven = rule.algorithm === 'gcra'
    const there = isEven ? this.remaining : Math.max(0, this.remaining - this.#coming)
    const spare = Math.floor(Math.min(this.#pace * AHEAD_MS, there * LEFT_SHARE))
    // So much is used before the next answer: it does not lie idle.
    const flow = Math.round(this.#pace * this.#store.latencyMs)
    const used = isEven ? flow : Math.min(flow, there - spare)
    const amount = Math.ceil(Math.max(demand, spare + used) - known)
    const lowWater = Math.ceil(spare / 2 + used)
    this.#lowWater = amount < 1 ? Math.min(lowWater, known) : lowWater
    if (amount < 1) return
    const asked = { amount, rule, askedMono: nowMono, lowWater }
    this.#coming += amount
    this.#questions++
    const question = this.#store.take(this.#name, rule, amount).then((granted) => {
      this.#coming -= amount
      this.#questions--
      if (this.#lastQuestion === question) this.#lastQuestion = null
      if (granted === null) this.#miss(performance.now())
      else this.#receive(granted, asked)
      if (this.#isGivenBack && this.#demand === 0) this.giveBack(performance.now())
    })
    this.#lastQuestion = question
  }

  /** No store answers: nothing is known any more. */
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
    // Half of the time has most likely passed before the store has looked at its clock. Who has waited for the answer
    // can use it in any case.
    if (rule.algorithm !== 'gcra') this.#validUntilMono = Math.max((askedMono + now) / 2 + resetMs, now + 1)
    this.#unavailableUntilMono = 0
    this.#refusedUntilMono = 0
    this.#unaskedUntilMono = 0
    this.#lowWater = asked.lowWater
    const isRefused = granted < asked.amount
    this.#isShort = isRefused || (this.#isShort && remaining < asked.amount)
    if (this.#isShort) this.#pause(isRefused ? retryAfterMs : 0, pieceMs(rule))
  }

  /** Pauses store calls because few or no tokens are left. */
  #pause(retryAfterMs: number, leastMs: number): void {
    const now = performance.now()
    const pauseMs = Math.max(retryAfterMs, leastMs)
    this.#lowWater = Number.POSITIVE_INFINITY
    if (retryAfterMs > 0) {
      this.retryMono = now + retryAfterMs
      this.#refusedMono = now
      this.#refusedUntilMono = now + pauseMs
    }
    // A question that is asked then is at the store when it is time.
    this.#unaskedUntilMono = now + Math.min(pauseMs - this.#store.latencyMs, MAX_UNASKED_MS)
  }

  /** Switches to another store and returns the leased tokens to the previous one. */
  #giveUpSource(nowMono: number): void {
    if (this.tokens > 0) this.giveBack(nowMono)
    this.#endWindow()
  }

  #measurePace(nowMono: number): void {
    const elapsedMs = Math.max(1, nowMono - this.#askedMono)
    // After a pause the old pace says nothing.
    const recent = this.#wanted / elapsedMs
    this.#pace = elapsedMs > 10 * AHEAD_MS ? recent : (this.#pace + recent) / 2
    this.#wanted = 0
    this.#askedMono = nowMono
  }
}

/** The most that can be there at once. */
function mostOf({ algorithm, burst, limit }: LimitRule): number {
  return algorithm === 'gcra' ? burst : limit
}

/** How long tokens may gather in the store without being lost. */
function pieceMs({ algorithm, burst, limit, periodMs }: LimitRule): number {
  const gatheredMs = algorithm === 'gcra' ? (burst / limit) * periodMs : periodMs
  return Math.min(PIECE_MS, gatheredMs / 4)
}
