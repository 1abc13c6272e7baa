import type { BanStore, ResponseCount } from './ban-store.js'

/** Bans that a worker remembers. */
const MAX_BANS = 50_000
/** Callers whose responses wait to be counted. */
const MAX_PENDING = 10_000
/** Callers that are counted at a time, of those none of whose responses made it urgent. */
const MAX_ROUND = 1000

/** What makes a ban. */
export interface Threshold {
  /** Responses that do not count are a part of it too. */
  readonly countsAll: boolean
  isReached(count: ResponseCount): boolean
}

/** Hears what was decided, for the metrics. */
export interface BanObserver {
  onBan(): void
  /** A response was not counted, for want of room. */
  onDropped(): void
}

/**
 * What a worker knows of the callers of one policy:
 *
 *     response ─► pending ─► store ─► bans ◄─ learn, each second
 *     request  ─► bans                            nobody waits for the store
 */
export class BanBook {
  /** Null before it is used; another one after a reload. */
  store: BanStore | null = null
  readonly #threshold: Threshold
  readonly #observer: BanObserver
  /** Until when, ms since 1970. */
  readonly #bans = new Map<string, number>()
  readonly #pending = new Map<string, { counted: number; all: number }>()
  /** Of those that wait, who may be banned for it. */
  #urgent: string[] = []
  #asking = 0
  #made = -1
  #lifted = 0

  constructor(threshold: Threshold, observer: BanObserver) {
    this.#threshold = threshold
    this.#observer = observer
  }

  get countsAll(): boolean {
    return this.#threshold.countsAll
  }

  /** How long the caller is banned for, ms; 0: it is not. */
  leftMs(key: string): number {
    const untilMs = this.#bans.get(key)
    if (untilMs === undefined) return 0
    const leftMs = untilMs - Date.now()
    if (leftMs > 0) return leftMs
    this.#bans.delete(key)
    return 0
  }

  /** Notes a response. @param isCounted it is one that makes bans. */
  note(key: string, isCounted: boolean): void {
    // Requests of a banned caller that were under way.
    if (this.#bans.has(key)) return
    let pending = this.#pending.get(key)
    if (pending === undefined) {
      if (this.#pending.size + this.#asking >= MAX_PENDING) {
        this.#observer.onDropped()
        return
      }
      pending = { counted: 0, all: 0 }
      this.#pending.set(key, pending)
    }
    pending.all++
    if (!isCounted) return
    pending.counted++
    if (pending.counted > 1) return
    if (this.#urgent.length === 0) setImmediate(() => this.#countUrgent())
    this.#urgent.push(key)
  }

  /** Runs each second: counts what nobody has waited for, and learns what others have banned. */
  async learn(): Promise<void> {
    this.#forget()
    let left = MAX_ROUND
    for (const key of this.#pending.keys()) {
      if (left-- === 0) break
      this.#count(key)
    }
    const changes = (await this.store?.changes()) ?? null
    if (changes === null) return
    if (changes.lifted !== this.#lifted) await this.#lift(changes.lifted)
    if (changes.made !== this.#made) await this.#learnMade(changes.made)
  }

  async #learnMade(made: number): Promise<void> {
    const known = (await this.store?.bans((key) => this.#bans.has(key))) ?? null
    if (known === null) return
    this.#made = made
    for (const [key, untilMs] of known) this.#add(key, untilMs)
  }

  /** Forgets the bans that the store does not have any more. */
  async #lift(lifted: number): Promise<void> {
    const keys = (await this.store?.lifted([...this.#bans.keys()])) ?? null
    if (keys === null) return
    this.#lifted = lifted
    for (const key of keys) this.#bans.delete(key)
  }

  #countUrgent(): void {
    const urgent = this.#urgent
    this.#urgent = []
    for (const key of urgent) this.#count(key)
  }

  #count(key: string): void {
    const pending = this.#pending.get(key)
    if (pending === undefined) return
    this.#pending.delete(key)
    this.#asking++
    void this.#decide(key, pending).finally(() => this.#asking--)
  }

  async #decide(key: string, pending: ResponseCount): Promise<void> {
    const count = await this.store?.count(key, pending)
    if (count == null || !this.#threshold.isReached(count)) return
    const ban = await this.store?.ban(key)
    if (ban == null) return
    this.#add(key, ban.untilMs)
    if (ban.isNew) this.#observer.onBan()
  }

  #add(key: string, untilMs: number): void {
    if (this.#bans.size >= MAX_BANS && !this.#bans.has(key)) this.#dropFirst(untilMs)
    if (this.#bans.size < MAX_BANS || this.#bans.has(key)) this.#bans.set(key, untilMs)
  }

  /** Makes room for one that ends later than one of the oldest. */
  #dropFirst(untilMs: number): void {
    const [first] = this.#bans
    if (first !== undefined && first[1] <= untilMs) this.#bans.delete(first[0])
  }

  #forget(): void {
    const nowMs = Date.now()
    for (const [key, untilMs] of this.#bans) if (untilMs <= nowMs) this.#bans.delete(key)
  }
}
