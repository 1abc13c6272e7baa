import type { CompileEnv, Grant, LimitRule, StateScope, StateStore } from '@sluice/core'
import { MemoryStore, MemoryTable, StateSlow } from '@sluice/core'
import { StorePause } from '../store-pause.js'

/** Part of an answer in the usual time, and the longest that counts. */
const LATENCY_WEIGHT = 1 / 8
const MAX_LATENCY_MS = 1000

/** What a use of a limit does while its store does not answer. */
export type OnStoreDown = 'open' | 'closed' | 'local'

/** Tokens, and the store that they came from: that is where unused ones go back to. */
export interface Granted extends Grant {
  readonly source: StateStore
}

/** Counts of one policy that a worker keeps for itself. */
const OWN_BOUNDS = { entries: 50_000, bytes: 16 * 1024 ** 2 }

/**
 * The store of a limit with what takes its place while it does not answer:
 *
 *     cluster ─► gateway ─► this worker      `local`: each goes on with what it knows
 *     cluster ─► nobody                      `open`, `closed`: the caller decides
 *
 * A supervisor that is slow still has the counts: nothing takes its place, and the caller decides. The worker's own counts
 * follow the answers of the stores: a limit that was used up stays so when they are gone.
 */
export class LimitStore {
  /** Usual time to an answer. */
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

  /** Null: no store answers, or the one that counts is too slow. */
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

  /** Has the worker's own count leave as much as the store does. */
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
