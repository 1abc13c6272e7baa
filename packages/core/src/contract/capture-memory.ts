/** What the bodies of all exchanges under way may take together, in bytes. */
const MOST_HELD_BYTES = 64 * 1024 ** 2

/** Memory for captured bodies that all exchanges of a process share, so that many at once cannot take all there is. */
export class CaptureMemory {
  /** What is held now. */
  heldBytes = 0
  /** How many bodies were cut because there was no more. */
  cutBodies = 0
  readonly #limit: number

  constructor(limit = MOST_HELD_BYTES) {
    this.#limit = limit
  }

  /** Takes so many bytes, or none; a body that got none asks no more. */
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

/** The one of this process. */
export const CAPTURE_MEMORY = new CaptureMemory()
