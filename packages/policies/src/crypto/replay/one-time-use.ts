import { type CompileEnv, type Reply, type StateStore, USED_PREFIX } from '@sluice/core'
import { StorePause } from '../../shared/store-pause.js'
import type { ReplayCache, ReplayVerdict } from './replay-cache.js'
import { DEFAULT_ON_STORE_DOWN, DEFAULT_SCOPE, type SharingConfig } from './sharing-options.js'

/** `unavailable`: the store does not answer, and nobody else may say that it is the first time. */
export type UseVerdict = ReplayVerdict | 'unavailable'

/** The clocks of gateways may be so far apart. */
const CLOCKS_APART_MS = 60_000
const NOTHING = new Uint8Array(0)

/** The refusal of a request while nobody can say whether it is the first time. */
export function replayUnavailable(env: Pick<CompileEnv, 'refusal'>): Reply {
  const detail = 'it cannot be seen at the moment whether this was used before; try again'
  return env.refusal('GW_AUTH_UNAVAILABLE', detail, ['retry-after', '1'])
}

export interface OneTimeUseOptions {
  /** What the keys belong to; others have other keys. */
  readonly space: string
  /** What this worker has seen itself: it bounds how much is remembered, and answers most replays. */
  readonly seen: ReplayCache
  readonly sharing: SharingConfig
}

/**
 * Lets a key be used once, by all workers of a gateway, or by all gateways with the same `state`:
 *
 *     seen by this worker ─► replayed
 *     not seen ─► set in the store, if it is absent there ─┬─ set: first
 *                                                          ├─ there already: replayed
 *                                                          └─ no answer: unavailable, or first (`local`)
 */
export class OneTimeUse {
  readonly #prefix: string
  readonly #seen: ReplayCache
  readonly #store: StateStore
  readonly #verdictWhenDown: 'unavailable' | 'first'
  readonly #pause: StorePause

  constructor(env: CompileEnv, { space, seen, sharing }: OneTimeUseOptions) {
    const { scope = DEFAULT_SCOPE, onStoreDown = DEFAULT_ON_STORE_DOWN } = sharing
    this.#prefix = `${USED_PREFIX}${space}:`
    this.#seen = seen
    this.#store = env.state.store(scope)
    this.#verdictWhenDown = onStoreDown === 'closed' ? 'unavailable' : 'first'
    this.#pause = new StorePause((error) =>
      env.report('replay_store_down', { space, onStoreDown, error: String(error) }),
    )
  }

  /** Notes the key unless it is there already. @param nowMs wall clock, because what expires does so by it. */
  use(key: string, nowMs: number): UseVerdict | Promise<UseVerdict> {
    const verdict = this.#seen.use(key, nowMs)
    return verdict === 'first' ? this.#useEverywhere(key) : verdict
  }

  /**
   * Whether the key was used before. It stays as it is, for what must have been done before it counts as used. Rejects
   * with StateUnavailable.
   */
  async wasUsed(key: string, nowMs: number): Promise<boolean> {
    return this.#seen.has(key, nowMs) || (await this.#store.get(this.#prefix + key)) !== null
  }

  async #useEverywhere(key: string): Promise<UseVerdict> {
    if (this.#pause.isOn()) return this.#withoutStore(key)
    try {
      const ttlMs = this.#seen.ttlMs + CLOCKS_APART_MS
      const isFirst = await this.#store.set(this.#prefix + key, NOTHING, ttlMs, 'absent')
      this.#pause.end()
      return isFirst ? 'first' : 'replayed'
    } catch (error) {
      this.#pause.begin(error)
      return this.#withoutStore(key)
    }
  }

  #withoutStore(key: string): UseVerdict {
    // Who is refused for that reason may send the same again.
    if (this.#verdictWhenDown === 'unavailable') this.#seen.forget(key)
    return this.#verdictWhenDown
  }
}
