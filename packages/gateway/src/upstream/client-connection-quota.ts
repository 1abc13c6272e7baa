/** Minimum pool size with a quota. */
const MIN_CONNECTIONS = 8

/**
 * Limits the connections to a target that wait for slow clients: for the rest of an upload, or until a response is
 * read. While fewer than an eighth of the connections are free, one client address may hold at most half of all. All
 * addresses together may never hold the last sixteenth, so that slow clients cannot block the target for others.
 */
export class ClientConnectionQuota {
  readonly #maxPerAddress: number
  /** Number of attempts above which less than an eighth of the connections is free. */
  readonly #scarceAbove: number
  /** Maximum number of connections held by all addresses together. */
  readonly #maxTotal: number
  #total = 0
  readonly #byAddress = new Map<string, number>()

  constructor(connections: number) {
    const isDivided = connections >= MIN_CONNECTIONS
    this.#maxPerAddress = isDivided ? Math.floor(connections / 2) : Number.POSITIVE_INFINITY
    this.#scarceAbove = Math.floor((connections * 7) / 8)
    this.#maxTotal = isDivided ? Math.floor((connections * 15) / 16) : Number.POSITIVE_INFINITY
  }

  /**
   * Reserves a connection that waits for a client of this address. `release` must follow.
   * @param active number of attempts at the target.
   * @returns false if the quota of the address, or of all, is used up.
   */
  reserve(address: string, active: number): boolean {
    const held = this.#byAddress.get(address) ?? 0
    if (this.#total >= this.#maxTotal || (active > this.#scarceAbove && held >= this.#maxPerAddress))
      return false
    this.#total++
    this.#byAddress.set(address, held + 1)
    return true
  }

  release(address: string): void {
    this.#total--
    const held = (this.#byAddress.get(address) ?? 0) - 1
    if (held > 0) this.#byAddress.set(address, held)
    else this.#byAddress.delete(address)
  }
}
