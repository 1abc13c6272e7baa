import type { CacheStore, CompileEnv, Counter, Exchange, PolicyIdentity, Reply } from '@sluice/core'
import { StateUnavailable } from '@sluice/core'
import type { Side } from '../../shared/message/side.js'
import { compileValueKey, type ValueKey } from './key.js'
import type { CachePolicyConfig } from './schema.js'

/** What a use of the policy did, for its counters. */
type Result = 'hit' | 'miss' | 'stored' | 'too_large' | 'forgotten' | 'none' | 'error'

const DOWN = 'the cache does not answer; try again'

/** What all operations of a use of the policy have in common. */
export class CacheUse {
  readonly store: CacheStore
  readonly space: string
  readonly side: Side
  /** Null: all of the space is meant. */
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
    // What may have changed is forgotten rather than kept.
    const rules = { isShared: shared, isStrict: operation !== 'invalidate' }
    this.key = key === undefined ? null : compileValueKey(key, rules, env)
    if (this.side === 'request' && this.key?.readsResponse === true)
      throw new Error("the key reads the response, and there is none yet; write 'phase: response'")
    this.isClosed = config.onStoreDown === 'closed'
    this.#isForAnyStatus = anyStatus
    this.#unavailable = env.refusal('GW_CACHE_UNAVAILABLE', DOWN, ['retry-after', '1'])
    this.#counterOf = (result) => env.counter('gw_cache_values_total', { policy, operation, result })
    this.#report = (error) => env.report('cache_store_down', { policy, operation, error })
  }

  count(result: Result): void {
    this.#counterOf(result).value++
  }

  /** Whether the status of a response lets anything be done. */
  isMeant({ status }: Exchange): boolean {
    return this.side === 'request' || this.#isForAnyStatus || (status >= 200 && status < 300)
  }

  /** The store did not answer. @throws any other error */
  onDown(error: unknown): Reply | null {
    if (!(error instanceof StateUnavailable)) throw error
    this.count('error')
    this.#report(error.message)
    return this.isClosed ? this.#unavailable : null
  }
}
