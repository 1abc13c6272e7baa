import type { CompileEnv, Outcome } from '@sluice/core'

/** Longest delay: shorter than what the pipeline waits for a policy. */
const MAX_DELAY_MS = 20_000

/** Delays requests, so many at once; more are not delayed. */
export class Delays {
  readonly #max: number
  readonly #timers = new Set<{ readonly timer: NodeJS.Timeout; readonly end: () => void }>()

  /** @param env its end ends all delays. */
  constructor(max: number, env: CompileEnv) {
    this.#max = max
    env.onClose(() => {
      for (const { timer, end } of this.#timers) {
        clearTimeout(timer)
        end()
      }
    })
  }

  /** @throws Error for a duration that is too long. */
  static check(ms: number): number {
    if (ms <= MAX_DELAY_MS) return ms
    throw new Error(`the delay is longer than ${MAX_DELAY_MS / 1000}s; shorten it`)
  }

  /** Whether one more request can be delayed. */
  get hasRoom(): boolean {
    return this.#timers.size < this.#max
  }

  /** `outcome` after a while. */
  wait(ms: number, outcome: Outcome): Promise<Outcome> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#timers.delete(entry)
        resolve(outcome)
      }
      const entry = { timer: setTimeout(end, ms), end }
      this.#timers.add(entry)
    })
  }
}
