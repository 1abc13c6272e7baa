/** Bytes that a thread holds for clients that send, or take, a value slowly; who would need more is turned away. */
const MAX_HELD_BYTES = 64 * 1024 ** 2
/** A value has come, or has been taken, within this time. */
export const TRANSFER_MS = 30_000

/** What the values under way in one thread hold together. */
export class TransferBudget {
  /** Values under way. */
  open = 0
  #held = 0

  /** False: there is no room for so many bytes more. */
  take(bytes: number): boolean {
    if (this.#held + bytes > MAX_HELD_BYTES) return false
    this.#held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}
