import type { Limit, LimitRule, StateStore } from '@sluice/core'
import type { Granted, LimitStore } from './limit-store.js'

/** A lease holds what was used in so long before; so much is the most that it holds unused. */
const AHEAD_MS = 100
/** A lease takes no more ahead than this part of what is left: the rest is for other workers. */
const LEFT_SHARE = 1 / 4
/** A key that was refused is asked for again after so long at the latest: somebody may have reset it. */
const MAX_REFUSED_MS = 1000
/** Tokens that come evenly are asked for in pieces, so that a hot key costs some 40 questions a second. */
const PIECE_MS = 25
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
  #refusedUntilMono = 0
  #unavailableUntilMono = 0
  /** Fewer tokens than this: more are fetched before they are needed. */
  #lowWater = 0
  #question: Promise<void> | null = null
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

  /** Whether a request may pass; it has to `use` what it costs then. */
  verdict(cost: number, nowMono: number): Verdict {
    if (nowMono >= this.#validUntilMono) this.#endWindow()
    if (this.tokens >= cost) return VERDICT.allowed
    if (cost > this.#most) {
      this.retryMono = nowMono + MAX_REFUSED_MS
      return VERDICT.refused
    }
    if (nowMono < this.#refusedUntilMono) return VERDICT.refused
    return nowMono < this.#unavailableUntilMono ? VERDICT.unavailable : VERDICT.unknown
  }

  /** A request wants this much, whatever becomes of it: leases are sized by that. */
  want(cost: number, nowMono: number): void {
    this.#wanted += cost
    this.#wantedMono = nowMono
  }

  use(cost: number, nowMono: number): void {
    this.tokens -= cost
    if (this.tokens < this.#lowWater && this.#question === null && nowMono >= this.#refusedUntilMono)
      this.#ask(0, nowMono)
  }

  /** A request has cost more, or less, than it used. A debt is no larger than what the limit can ever give. */
  settle(more: number): void {
    this.tokens = Math.max(this.tokens - more, -this.#most)
  }

  /**
   * Resolves when the store has answered; all who wait at the same time ask one question. Who has waited must `leave` in
   * the turn in which it takes or waits again, so that a second question covers all whom the first did not.
   */
  wait(cost: number): Promise<void> | null {
    this.#demand += cost
    if (this.#question === null) this.#ask(this.#demand, performance.now())
    return this.#question
  }

  leave(cost: number): void {
    this.#demand -= cost
  }

  /** Whether nobody has wanted anything of late, so that it need not be kept. */
  isIdle(nowMono: number): boolean {
    if (this.#question !== null || nowMono - this.#wantedMono < IDLE_MS) return false
    return this.tokens >= 0 && nowMono >= this.#refusedUntilMono && nowMono >= this.#unavailableUntilMono
  }

  /** Takes what is owed from the store, though nobody asks for more. */
  payDebt(nowMono: number): void {
    const isPossible = nowMono >= this.#refusedUntilMono && nowMono >= this.#unavailableUntilMono
    if (this.tokens < 0 && this.#question === null && isPossible) this.#ask(0, nowMono)
  }

  /** Gives unused tokens back, or takes what is owed: nobody asks this lease any more. */
  giveBack(nowMono: number): void {
    this.#isGivenBack = true
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

  /** The most that can be there at once. */
  get #most(): number {
    const { algorithm, burst, limit } = this.#limit.rule(Date.now())
    return algorithm === 'gcra' ? burst : limit
  }

  #endWindow(): void {
    // What is owed stays owed.
    this.tokens = Math.min(this.tokens, 0)
    this.remaining = 0
    this.#lowWater = 0
    this.#refusedUntilMono = 0
    this.#validUntilMono = Number.POSITIVE_INFINITY
  }

  /** Asks the store for what is needed now, and for what the pace of late says. */
  #ask(demand: number, nowMono: number): void {
    this.#measurePace(nowMono)
    const ahead = Math.floor(Math.min(this.#pace * AHEAD_MS, this.remaining * LEFT_SHARE))
    const amount = Math.ceil(Math.max(demand, ahead) - this.tokens)
    this.#lowWater = 0
    if (amount < 1) return
    const rule = this.#limit.rule(Date.now())
    const asked = { amount, rule, ahead, askedMono: nowMono }
    this.#question = this.#store.take(this.#name, rule, amount).then((granted) => {
      this.#question = null
      if (granted === null) this.#unavailableUntilMono = performance.now() + UNAVAILABLE_MS
      else this.#receive(granted, asked)
      if (this.#isGivenBack && this.#demand === 0) this.giveBack(performance.now())
    })
  }

  #receive(
    { granted, remaining, retryAfterMs, resetMs, source }: Granted,
    asked: {
      readonly amount: number
      readonly rule: LimitRule
      readonly askedMono: number
      readonly ahead: number
    },
  ): void {
    const { rule, askedMono } = asked
    const now = performance.now()
    if (source !== this.#source) this.tokens = Math.min(this.tokens, 0)
    this.#source = source
    this.tokens += granted
    this.remaining = remaining
    this.resetMono = now + resetMs
    // The store has looked at its clock after the question was asked: the window ends then at the earliest.
    if (rule.algorithm !== 'gcra') this.#validUntilMono = askedMono + resetMs
    this.#unavailableUntilMono = 0
    if (granted >= asked.amount) {
      this.#lowWater = Math.ceil(asked.ahead / 2)
      return
    }
    this.retryMono = now + retryAfterMs
    this.#refusedUntilMono = now + Math.min(Math.max(retryAfterMs, pieceMs(rule)), MAX_REFUSED_MS)
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

/** How long tokens may gather in the store without being lost. */
function pieceMs({ algorithm, burst, limit, periodMs }: LimitRule): number {
  const gatheredMs = algorithm === 'gcra' ? (burst / limit) * periodMs : periodMs
  return Math.min(PIECE_MS, gatheredMs / 4)
}
