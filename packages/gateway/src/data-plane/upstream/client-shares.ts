/** Minimum pool size with a quota. */
const MIN_CONNECTIONS = 8

/**
 * Limits the connections to a target that wait for slow clients: for the rest of an upload, or until a response is
 * read. While fewer than an eighth of the connections are free, one client address may hold at most half of all. All
 * addresses together may never hold the last sixteenth, so that slow clients cannot block the target for others.
 */
export class ClientShares {
  readonly #share: number
  /** Number of attempts above which less than an eighth of the connections is free. */
  readonly #most: number
  /** Maximum number of connections held by all addresses together. */
  readonly #all: number
  #heldByAll = 0
  readonly #held = new Map<string, number>()

  constructor(connections: number) {
    const isDivided = connections >= MIN_CONNECTIONS
    this.#share = isDivided ? Math.floor(connections / 2) : Number.POSITIVE_INFINITY
    this.#most = Math.floor((connections * 7) / 8)
    this.#all = isDivided ? Math.floor((connections * 15) / 16) : Number.POSITIVE_INFINITY
  }

  /**
   * Reserves a connection that waits for a client of this address. `release` must follow.
   * @param active number of attempts at the target.
   * @returns false if the quota of the address, or of all, is used up.
   */
  take(address: string, active: number): boolean {
    const held = this.#held.get(address) ?? 0
    if (this.#heldByAll >= this.#all || (active > this.#most && held >= this.#share)) return false
    this.#heldByAll++
    this.#held.set(address, held + 1)
    return true
  }

  release(address: string): void {
    this.#heldByAll--
    const held = (this.#held.get(address) ?? 0) - 1
    if (held > 0) this.#held.set(address, held)
    else this.#held.delete(address)
  }
}
