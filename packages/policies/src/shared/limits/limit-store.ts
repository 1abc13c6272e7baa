import type { CompileEnv, Grant, LimitRule, StateScope, StateStore } from '@sluice/core'
import { MemoryStore } from '@sluice/core'

/** What a use of a limit does while its store does not answer. */
export type OnStoreDown = 'open' | 'closed' | 'local'

/** Tokens, and the store that they came from: that is where unused ones go back to. */
export interface Granted extends Grant {
  readonly source: StateStore
}

/** For so long nobody waits for a store that did not answer; then one call tries it again. */
const PAUSE_MS = 1000

/**
 * The store of a limit with what takes its place while it does not answer:
 *
 *     cluster ─► gateway ─► this worker      `local`: each goes on with what it knows
 *     cluster ─► nobody                      `open`, `closed`: the caller decides
 */
export class LimitStore {
  readonly #stores: readonly StateStore[]
  readonly #downUntilMono: number[]
  readonly #report: (store: number, error: unknown) => void

  constructor(env: CompileEnv, scope: StateScope, onStoreDown: OnStoreDown) {
    const main = env.state.store(scope)
    const gateway = env.state.store('gateway')
    const others = gateway === main ? [new MemoryStore()] : [gateway, new MemoryStore()]
    this.#stores = onStoreDown === 'local' ? [main, ...others] : [main]
    this.#downUntilMono = this.#stores.map(() => 0)
    this.#report = (store, error) =>
      env.report('limit_store_down', {
        place: ['store', 'gateway', 'worker'][store],
        onStoreDown,
        error: String(error),
      })
  }

  /** Null: no store answers. */
  async take(key: string, rule: LimitRule, amount: number): Promise<Granted | null> {
    for (const [at, source] of this.#stores.entries()) {
      const now = performance.now()
      if (this.#downUntilMono[at]! > now) continue
      // One tries while all others still go on without it.
      if (this.#downUntilMono[at] !== 0) this.#downUntilMono[at] = now + PAUSE_MS
      try {
        const grant = await source.take(key, rule, amount)
        this.#downUntilMono[at] = 0
        return { ...grant, source }
      } catch (error) {
        if (this.#downUntilMono[at]! === 0) this.#report(at, error)
        this.#downUntilMono[at] = performance.now() + PAUSE_MS
      }
    }
    return null
  }
}
