import type { ConfigBundle, Plan } from '@sluice/config'
import { MemoryStore, type StateScope, type StateStore } from '@sluice/core'
import type { SharedMemory } from '../../state/shared-memory.js'
import { ValkeyStore } from '../../state/valkey/valkey-store.js'
import type { OperationLog } from '../../telemetry/operation-log.js'

/** Where state and policies are. */
export interface OperatorStoresSeams {
  readonly memory: SharedMemory
  /** The one that serves; null: none does yet. */
  readonly bundle: () => ConfigBundle | null
  readonly resolve: (bundle: ConfigBundle) => Plan
  readonly log: OperationLog
}

/** The stores that the policies of a gateway use, for what operators ask and change. */
export class OperatorStores {
  readonly #seams: OperatorStoresSeams

  constructor(seams: OperatorStoresSeams) {
    this.#seams = seams
  }

  /** The plan that serves, with its references resolved; null: none does yet. */
  plan(): Plan | null {
    const bundle = this.#seams.bundle()
    return bundle === null ? null : this.#seams.resolve(bundle)
  }

  /**
   * Works with the stores. A server that replicas share is asked over a connection of its own: operators come seldom.
   * @param isLasting what outlives the supervisor is meant, which is what quotas count.
   * @throws StateUnavailable
   */
  async use<T>(
    isLasting: boolean,
    work: (storeOf: (scope: StateScope) => StateStore) => Promise<T>,
  ): Promise<T> {
    const { lasting, passing } = this.#seams.memory
    const memory = new MemoryStore(isLasting ? lasting : passing)
    const plan = this.plan()?.state ?? null
    if (plan === null) return work(() => memory)
    const { log } = this.#seams
    const shared = new ValkeyStore({ plan, report: (event, fields) => log.warn(event, { ...fields }) })
    try {
      await shared.opened
      return await work((scope) => (scope === 'gateway' ? memory : shared))
    } finally {
      shared.close()
    }
  }
}
