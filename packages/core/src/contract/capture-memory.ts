/** Memory limit for the captured bodies of all exchanges in progress, in bytes. */
const MAX_HELD_BYTES = 64 * 1024 ** 2

/**
 * Memory budget for captured bodies, shared by all exchanges of a process so that many captures cannot
 * exhaust memory.
 */
export class CaptureMemory {
  /** Bytes currently in use. */
  heldBytes = 0
  /** Number of bodies that were truncated because the budget was exhausted. */
  cutBodies = 0
  readonly #limit: number

  constructor(limit = MAX_HELD_BYTES) {
    this.#limit = limit
  }

  /**
   * Reserves bytes. Returns false if they do not fit in the budget. The caller must not ask again for the
   * same body.
   */
  take(bytes: number): boolean {
    if (this.heldBytes + bytes > this.#limit) {
      this.cutBodies++
      return false
    }
    this.heldBytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.heldBytes -= bytes
  }
}

/** The memory budget of this process. */
export const CAPTURE_MEMORY = new CaptureMemory()
