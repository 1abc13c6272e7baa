import type { Chain, ResponseHooks } from './chain.js'
import type { Hook } from './hook.js'

/** Processor time per second that the policies of a route may use. Unused time is kept for up to a second. */
export class CpuBudget {
  readonly #msPerSecond: number
  #leftMs: number
  #sinceMono = Number.NEGATIVE_INFINITY

  constructor(msPerSecond: number) {
    this.#msPerSecond = msPerSecond
    this.#leftMs = msPerSecond
  }

  /** True if the policies have used more than their budget. */
  isSpent(nowMono: number): boolean {
    const earnedMs = ((nowMono - this.#sinceMono) / 1000) * this.#msPerSecond
    this.#sinceMono = nowMono
    this.#leftMs = Math.min(this.#msPerSecond, this.#leftMs + earnedMs)
    return this.#leftMs <= 0
  }

  /** Returns a chain whose hooks use this budget. The time that a hook waits does not count. */
  measure(chain: Chain): Chain {
    const { layers } = chain
    return {
      ...chain,
      request: this.#measured(chain.request),
      requestBody: this.#measured(chain.requestBody),
      attempt: this.#measured(chain.attempt),
      ...this.#measuredResponse(chain),
      layers: layers && {
        inner: this.#measuredResponse(layers.inner),
        outer: this.#measuredResponse(layers.outer),
      },
    }
  }

  #measuredResponse({ response, responseBody }: ResponseHooks): ResponseHooks {
    return { response: this.#measured(response), responseBody: this.#measured(responseBody) }
  }

  #measured(hooks: readonly Hook[] | null): readonly Hook[] | null {
    if (hooks === null) return null
    return hooks.map((hook) => ({
      ...hook,
      run: (x) => {
        const sinceMono = performance.now()
        try {
          return hook.run(x)
        } finally {
          this.#leftMs -= performance.now() - sinceMono
        }
      },
    }))
  }
}
