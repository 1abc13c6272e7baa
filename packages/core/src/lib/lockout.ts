/** Number of wrong tokens allowed per client address and minute. */
const MAX_WRONG = 10
const WINDOW_MS = 60_000
/** Maximum number of addresses remembered. The oldest is forgotten first, which only unlocks it early. */
const MAX_PEERS = 4096

/**
 * Counts wrong tokens per client address. After too many within a minute, further ones are answered with 429
 * until the minute is over.
 */
export class Lockout {
  readonly #now: () => number
  readonly #peers = new Map<string, { readonly startMs: number; wrong: number }>()

  /** @param now monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  wrong(peer: string): void {
    const entry = this.#entry(peer)
    if (entry !== null) {
      entry.wrong++
      return
    }
    if (this.#peers.size >= MAX_PEERS) this.#peers.delete(this.#peers.keys().next().value ?? '')
    this.#peers.set(peer, { startMs: this.#now(), wrong: 1 })
  }

  /** Returns the seconds until the address is unlocked; 0 if it is not locked. */
  secondsLeft(peer: string): number {
    const entry = this.#entry(peer)
    if (entry === null || entry.wrong <= MAX_WRONG) return 0
    return Math.max(1, Math.ceil((entry.startMs + WINDOW_MS - this.#now()) / 1000))
  }

  #entry(peer: string): { readonly startMs: number; wrong: number } | null {
    const entry = this.#peers.get(peer)
    if (entry === undefined) return null
    if (this.#now() - entry.startMs < WINDOW_MS) return entry
    this.#peers.delete(peer)
    return null
  }
}
