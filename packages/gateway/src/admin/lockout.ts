/** Wrong tokens allowed per peer and minute. */
const MAX_WRONG = 10
const WINDOW_MS = 60_000
/** Peers remembered; beyond it the one that was seen first is forgotten, which only forgives. */
const MAX_PEERS = 4096

/** Counts the wrong tokens of each peer: after too many within a minute further ones are answered 429 until it ends. */
export class Lockout {
  readonly #now: () => number
  readonly #peers = new Map<string, { readonly startMs: number; wrong: number }>()

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Counts a wrong token. */
  wrong(peer: string): void {
    const entry = this.#entry(peer)
    if (entry !== null) {
      entry.wrong++
      return
    }
    if (this.#peers.size >= MAX_PEERS) this.#peers.delete(this.#peers.keys().next().value ?? '')
    this.#peers.set(peer, { startMs: this.#now(), wrong: 1 })
  }

  /** Seconds until the peer is heard again; 0 when it is heard now. */
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
