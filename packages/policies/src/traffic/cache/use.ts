import type { CacheStore, CompileEnv, Counter, Exchange, PolicyIdentity, Reply } from '@sluice/core'
import { StateUnavailable } from '@sluice/core'
import type { Side } from '../../shared/message/side.js'
import { compileValueKey, type ValueKey } from './key.js'
import type { CachePolicyConfig } from './schema.js'

/** Result of one run of the policy, for the metrics. */
type Result = 'hit' | 'miss' | 'stored' | 'too_large' | 'forgotten' | 'none' | 'error'

const DOWN = 'the cache does not respond; try again'

/** Context shared by the operations of one use of the policy. */
export class CacheUse {
  readonly store: CacheStore
  readonly space: string
  readonly side: Side
  /** Key of the value, or null for the whole space. */
  readonly key: ValueKey | null
  readonly isClosed: boolean
  readonly #isForAnyStatus: boolean
  readonly #unavailable: Reply
  readonly #counterOf: (result: Result) => Counter
  readonly #report: (error: string) => void

  constructor(config: CachePolicyConfig, env: CompileEnv, use: PolicyIdentity | undefined) {
    const { operation, key, shared = false, anyStatus = false } = config
    const policy = use?.id ?? 'cache'
    this.store = env.cache
    this.space = config.space
    this.side = config.phase ?? (operation === 'lookup' ? 'request' : 'response')
    // For invalidation an ambiguous key is allowed: deleting a value too many does no harm.
    const rules = { isShared: shared, isStrict: operation !== 'invalidate' }
    this.key = key === undefined ? null : compileValueKey(key, rules, env)
    if (this.side === 'request' && this.key?.readsResponse === true)
      throw new Error("the key reads the response, which does not exist yet; write 'phase: response'")
    this.isClosed = config.onStoreDown === 'closed'
    this.#isForAnyStatus = anyStatus
    this.#unavailable = env.refusal('GW_CACHE_UNAVAILABLE', DOWN, ['retry-after', '1'])
    this.#counterOf = (result) => env.counter('gw_cache_values_total', { policy, operation, result })
    this.#report = (error) => env.report('cache_store_down', { policy, operation, error })
  }

  count(result: Result): void {
    this.#counterOf(result).value++
  }

  /** True if the policy runs for a response with this status. */
  appliesTo({ status }: Exchange): boolean {
    return this.side === 'request' || this.#isForAnyStatus || (status >= 200 && status < 300)
  }

  /** Handles a failure of the store. @throws any other error */
  onDown(error: unknown): Reply | null {
    if (!(error instanceof StateUnavailable)) throw error
    this.count('error')
    this.#report(error.message)
    return this.isClosed ? this.#unavailable : null
  }
}
