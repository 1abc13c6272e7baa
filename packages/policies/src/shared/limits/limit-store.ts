import type { CompileEnv, Grant, LimitRule, StateScope, StateStore } from '@sluice/core'
import { MemoryStore, MemoryTable, StateSlow } from '@sluice/core'
import { StorePause } from '../call/store-pause.js'

/** Weight of a new latency sample in the average, and maximum sample in milliseconds. */
const LATENCY_WEIGHT = 1 / 8
const MAX_LATENCY_MS = 1000

/** Behaviour of a limit while its store does not respond. */
export type OnStoreDown = 'open' | 'closed' | 'local'

/** Tokens and the store that granted them. Unused tokens are returned to it. */
export interface Granted extends Grant {
  readonly source: StateStore
}

/** Maximum number and size of the counters of one policy in a worker. */
const OWN_BOUNDS = { entries: 50_000, bytes: 16 * 1024 ** 2 }

/**
 * The store of a limit with its fallbacks:
 *
 *     cluster ─► gateway ─► this worker      `local`: each continues with its own counters
 *     cluster ─► no fallback                 `open`, `closed`: the caller decides
 *
 * A slow supervisor still has the counters, so there is no fallback for it and the caller decides. The worker's own
 * counters follow the responses of the stores, so a used-up limit stays used up when a store fails.
 */
export class LimitStore {
  /** Average latency of the store in milliseconds. */
  latencyMs = 0
  readonly #stores: readonly { readonly source: StateStore; readonly pause: StorePause }[]
  readonly #own = new MemoryTable(OWN_BOUNDS)

  constructor(env: CompileEnv, scope: StateScope, onStoreDown: OnStoreDown) {
    const main = env.state.store(scope)
    const gateway = env.state.store('gateway')
    const others = gateway === main ? [] : [gateway]
    const stores = onStoreDown === 'local' ? [main, ...others, new MemoryStore(this.#own)] : [main]
    this.#stores = stores.map((source, at) => {
      const place = ['store', 'gateway', 'worker'][at]
      const report = (error: unknown): void =>
        env.report('limit_store_down', { place, onStoreDown, error: String(error) })
      return { source, pause: new StorePause(report) }
    })
  }

  /** Takes tokens. Returns null if no store responds, or the relevant one is too slow. */
  async take(key: string, rule: LimitRule, amount: number): Promise<Granted | null> {
    for (const { source, pause } of this.#stores) {
      if (pause.isOn()) continue
      try {
        const askedMono = performance.now()
        const grant = await source.take(key, rule, amount)
        this.#noteLatency(performance.now() - askedMono)
        pause.end()
        this.#follow(key, rule, grant.remaining)
        return { ...grant, source }
      } catch (error) {
        if (error instanceof StateSlow) return null
        pause.begin(error)
      }
    }
    return null
  }

  /** Sets the worker's own counter to the remaining tokens of the store. */
  #follow(key: string, rule: LimitRule, remaining: number): void {
    const more = this.#own.take(key, rule, 0).remaining - remaining
    if (more > 0) this.#own.take(key, rule, more)
    else if (more < 0) this.#own.giveBack(key, rule, -more)
  }

  #noteLatency(ms: number): void {
    const weight = this.latencyMs === 0 ? 1 : LATENCY_WEIGHT
    this.latencyMs += weight * (Math.min(ms, MAX_LATENCY_MS) - this.latencyMs)
  }
}
