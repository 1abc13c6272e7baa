/** In a smaller pool nobody has a share. */
const MIN_CONNECTIONS = 8

/**
 * How many connections of a target wait for the clients of each address: for the rest of an upload, or until a response is
 * read. While fewer than an eighth of the connections are left, one address may hold no more than half of them, and
 * never do all addresses together hold the last sixteenth, so that slow clients do not keep all others from the target.
 */
export class ClientShares {
  readonly #share: number
  /** More attempts than that leave less than an eighth. */
  readonly #most: number
  /** As many as all addresses together may hold. */
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
   * One more connection waits for a client of the address; `release` must follow.
   * @param active attempts at the target.
   * @returns false: the address has its share, or all have theirs.
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
