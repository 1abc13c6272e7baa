import { type CompileEnv, type Reply, type StateStore, USED_PREFIX } from '@sluice/core'
import { StorePause } from '../../shared/call/store-pause.js'
import type { ReplayCache, ReplayVerdict } from './replay-cache.js'
import type { SharingConfig } from './sharing-options.js'

/** Result of a use. `unavailable`: the store does not respond, so a replay cannot be excluded. */
export type UseVerdict = ReplayVerdict | 'unavailable'

/** Maximum difference between the clocks of gateways, in milliseconds. */
const CLOCKS_APART_MS = 60_000
const NOTHING = new Uint8Array(0)

/** Creates the refusal of a request that may be a replay while the store is unavailable. */
export function replayUnavailable(env: Pick<CompileEnv, 'refusal'>): Reply {
  const detail = 'replays cannot be detected at the moment; try again'
  return env.refusal('GW_AUTH_UNAVAILABLE', detail, ['retry-after', '1'])
}

interface OneTimeUseOptions {
  /** Name of the key space. Different spaces never conflict. */
  readonly space: string
  /** Keys that this worker has seen. Limits memory and detects most replays. */
  readonly seen: ReplayCache
  readonly sharing: SharingConfig
}

/**
 * Lets each key be used once by all workers of a gateway, or by all gateways with the same `state`:
 *
 *     seen by this worker ─► replayed
 *     not seen ─► set in the store, if it is absent there ─┬─ set: first
 *                                                          ├─ already set: replayed
 *                                                          └─ no response: unavailable, or first (`local`)
 */
export class OneTimeUse {
  readonly #prefix: string
  readonly #seen: ReplayCache
  readonly #store: StateStore
  readonly #verdictWhenDown: 'unavailable' | 'first'
  readonly #pause: StorePause

  constructor(env: CompileEnv, { space, seen, sharing }: OneTimeUseOptions) {
    const { scope = 'cluster', onStoreDown = 'closed' } = sharing
    this.#prefix = `${USED_PREFIX}${space}:`
    this.#seen = seen
    this.#store = env.state.store(scope)
    this.#verdictWhenDown = onStoreDown === 'closed' ? 'unavailable' : 'first'
    this.#pause = new StorePause((error) =>
      env.report('replay_store_down', { space, onStoreDown, error: String(error) }),
    )
  }

  /** Records the use of a key. @param nowMs wall-clock time, because signatures expire by it. */
  use(key: string, nowMs: number): UseVerdict | Promise<UseVerdict> {
    const verdict = this.#seen.use(key, nowMs)
    return verdict === 'first' ? this.#useEverywhere(key) : verdict
  }

  /**
   * Returns true if the key was used, without recording a use. For work that must be done before the key counts as
   * used. Rejects with StateUnavailable.
   */
  async wasUsed(key: string, nowMs: number): Promise<boolean> {
    return this.#seen.has(key, nowMs) || (await this.#store.get(this.#prefix + key)) !== null
  }

  async #useEverywhere(key: string): Promise<UseVerdict> {
    const ttlMs = this.#seen.ttlMs + CLOCKS_APART_MS
    const name = this.#prefix + key
    const isFirst = await this.#pause.try(() => this.#store.set(name, NOTHING, ttlMs, 'absent'))
    if (isFirst === null) return this.#withoutStore(key)
    return isFirst ? 'first' : 'replayed'
  }

  #withoutStore(key: string): UseVerdict {
    // A caller that is refused for this reason may send the request again.
    if (this.#verdictWhenDown === 'unavailable') this.#seen.forget(key)
    return this.#verdictWhenDown
  }
}
