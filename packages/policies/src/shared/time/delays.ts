import type { CompileEnv, Outcome } from '@sluice/core'

/** Maximum delay, shorter than the pipeline's timeout for a policy. */
const MAX_DELAY_MS = 20_000

/** Delays a limited number of requests at once. Requests beyond the limit are not delayed. */
export class Delays {
  readonly #max: number
  readonly #timers = new Set<{ readonly timer: NodeJS.Timeout; readonly end: () => void }>()

  /** Creates the delays. @param env closing it ends all delays. */
  constructor(max: number, env: CompileEnv) {
    this.#max = max
    env.onClose(() => {
      for (const { timer, end } of this.#timers) {
        clearTimeout(timer)
        end()
      }
    })
  }

  /** Checks a duration. @throws Error if it is too long. */
  static check(ms: number): number {
    if (ms <= MAX_DELAY_MS) return ms
    throw new Error(`the delay is longer than ${MAX_DELAY_MS / 1000}s; shorten it`)
  }

  /** True if one more request can be delayed. */
  get hasRoom(): boolean {
    return this.#timers.size < this.#max
  }

  /** Resolves with `outcome` after the delay. */
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
