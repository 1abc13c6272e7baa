/** Maximum number of bytes buffered per thread for slow clients. Clients that would need more are refused. */
const MAX_HELD_BYTES = 64 * 1024 ** 2
/** Time limit of a transfer in milliseconds. */
export const TRANSFER_MS = 30_000

/** Memory budget of the transfers in one thread. */
export class TransferBudget {
  /** Number of transfers in progress. */
  open = 0
  #held = 0

  /** Reserves memory. Returns false if it exceeds the budget. */
  take(bytes: number): boolean {
    if (this.#held + bytes > MAX_HELD_BYTES) return false
    this.#held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}
