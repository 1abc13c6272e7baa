import type { BanStore, ResponseCount } from './ban-store.js'

/** Maximum number of bans per worker. */
const MAX_BANS = 50_000
/** Maximum number of callers whose responses wait to be counted. */
const MAX_PENDING = 10_000
/** Maximum number of non-urgent callers counted per round. */
const MAX_ROUND = 1000

/** Condition for a ban. */
export interface Threshold {
  /** True if the condition also depends on the number of all responses. */
  readonly countsAll: boolean
  isReached(count: ResponseCount): boolean
}

/** Callbacks for the metrics. */
export interface BanObserver {
  /** Called for a new ban, with the responses that caused it and the time of its end in ms since the epoch. */
  onBan(count: ResponseCount, untilMs: number): void
  /** Called if a response is not counted because the queue is full. */
  onDropped(): void
}

/**
 * Bans and counts of one policy in this worker:
 *
 *     response ─► pending ─► store ─► bans ◄─ learn, every second
 *     request  ─► bans                            requests never wait for the store
 */
export class BanTable {
  /** Shared store, or null before first use. A reload may replace it. */
  store: BanStore | null = null
  readonly #threshold: Threshold
  readonly #observer: BanObserver
  /** End of each ban in milliseconds since 1970, by caller. */
  readonly #bans = new Map<string, number>()
  readonly #pending = new Map<string, { counted: number; all: number }>()
  /** Pending callers that may have reached the threshold. */
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

  /** Returns the remaining time of a ban in milliseconds, or 0 if the caller is not banned. */
  leftMs(key: string): number {
    const untilMs = this.#bans.get(key)
    if (untilMs === undefined) return 0
    const leftMs = untilMs - Date.now()
    if (leftMs > 0) return leftMs
    this.#bans.delete(key)
    return 0
  }

  /** Records a response. @param isCounted true if the response matches `count`. */
  note(key: string, isCounted: boolean): void {
    // Ignores requests that were in progress when the caller was banned.
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

  /** Counts the non-urgent responses, and learns bans made by other workers. Runs every second. */
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

  /** Removes bans that no longer exist in the store. */
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
    if (ban.isNew) this.#observer.onBan(count, ban.untilMs)
  }

  #add(key: string, untilMs: number): void {
    if (this.#bans.size >= MAX_BANS && !this.#bans.has(key)) this.#dropFirst(untilMs)
    if (this.#bans.size < MAX_BANS || this.#bans.has(key)) this.#bans.set(key, untilMs)
  }

  /** Makes room by removing the oldest ban, unless it ends later than the new one. */
  #dropFirst(untilMs: number): void {
    const [first] = this.#bans
    if (first !== undefined && first[1] <= untilMs) this.#bans.delete(first[0])
  }

  #forget(): void {
    const nowMs = Date.now()
    for (const [key, untilMs] of this.#bans) if (untilMs <= nowMs) this.#bans.delete(key)
  }
}
