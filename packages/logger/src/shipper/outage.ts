/** The first wait after a failure, and the longest, ms. */
const FIRST_MS = 100
const LONGEST_MS = 30_000
/** An output that asks for more patience than this is not believed, ms. */
const MAX_ASKED_MS = 3_600_000

/**
 * Whether the output answers. While it does not, one delivery at a time tries again, after a wait that doubles each
 * time, with full jitter, so that many gateways do not come back at the same moment; all others wait for its outcome.
 */
export class Outage {
  #failures = 0
  #leastMs = 0
  #isProbing = false
  #waiting: (() => void)[] = []
  #wake: (() => void) | null = null
  #isOver = false

  /** Since when nothing works; 0 failures: it works. */
  get failures(): number {
    return this.#failures
  }

  /** Resolves when the caller may try: at once, or after the wait of the one that probes. False: it has ended. */
  async mayTry(): Promise<boolean> {
    while (this.#failures > 0 && !this.#isOver) {
      if (!this.#isProbing) {
        this.#isProbing = true
        await this.#sleep(this.#delayMs())
        return !this.#isOver
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return !this.#isOver
  }

  worked(): void {
    this.#failures = 0
    this.#release()
  }

  /** @param afterMs the output does not want to be tried before; jitter comes on top. */
  failed(afterMs = 0): void {
    this.#failures++
    this.#leastMs = Math.min(MAX_ASKED_MS, afterMs)
    this.#release()
  }

  /** Nobody waits any longer. */
  end(): void {
    this.#isOver = true
    this.#wake?.()
    this.#release()
  }

  #release(): void {
    this.#isProbing = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  #delayMs(): number {
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#failures, 16))
    const ownMs = FIRST_MS + Math.random() * (longest - FIRST_MS)
    return this.#leastMs === 0 ? ownMs : this.#leastMs + Math.random() * FIRST_MS
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
