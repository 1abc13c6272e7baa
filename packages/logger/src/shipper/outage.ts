/** Initial and maximum wait after a failure, in milliseconds. */
const FIRST_MS = 100
const MAX_WAIT_MS = 5000
/** Maximum wait that an output can request, in milliseconds. */
const MAX_ASKED_MS = 3_600_000

/**
 * Circuit breaker for an output. While the output is down, only one delivery at a time is attempted, and the
 * others wait for its outcome. The wait between attempts doubles, with full jitter, so that many gateways do
 * not return at the same moment.
 */
export class Outage {
  #failures = 0
  #minMs = 0
  #isProbing = false
  #waiting: (() => void)[] = []
  #wake: (() => void) | null = null
  #isOver = false

  /** Number of consecutive failures. 0 if the output works. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Resolves when the caller may try: immediately, or after the backoff. Returns false if the outage handling
   * has ended.
   */
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

  /** @param afterMs Minimum wait requested by the output in milliseconds. Jitter is added to it. */
  failed(afterMs = 0): void {
    this.#failures++
    this.#minMs = Math.min(MAX_ASKED_MS, afterMs)
    this.#release()
  }

  /** Ends all waits. */
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
    const longest = Math.min(MAX_WAIT_MS, FIRST_MS * 2 ** Math.min(this.#failures, 16))
    const ownMs = FIRST_MS + Math.random() * (longest - FIRST_MS)
    return this.#minMs === 0 ? ownMs : this.#minMs + Math.random() * FIRST_MS
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
