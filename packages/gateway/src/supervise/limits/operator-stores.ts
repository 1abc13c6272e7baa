import type { ConfigBundle, Plan } from '@sluice/config'
import { MemoryStore, type StateScope, type StateStore } from '@sluice/core'
import type { SharedMemory } from '../../state/shared-memory.js'
import { ValkeyStore } from '../../state/valkey/valkey-store.js'
import type { OperationLog } from '../../telemetry/operation-log.js'

interface OperatorStoresDependencies {
  readonly memory: SharedMemory
  /** Returns the active bundle, or null before the first deploy. */
  readonly bundle: () => ConfigBundle | null
  readonly resolve: (bundle: ConfigBundle) => Plan
  readonly log: OperationLog
}

/** The state stores that the gateway's policies use, opened for operators. */
export class OperatorStores {
  readonly #dependencies: OperatorStoresDependencies

  constructor(dependencies: OperatorStoresDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns the active plan with resolved references, or null before the first deploy. */
  plan(): Plan | null {
    const bundle = this.#dependencies.bundle()
    return bundle === null ? null : this.#dependencies.resolve(bundle)
  }

  /**
   * Runs work against the stores. A server shared by replicas is accessed over a dedicated connection, since
   * operator requests are rare.
   * @param isPersistent true to use the memory that survives the supervisor, as quotas do.
   * @throws StateUnavailable
   */
  async use<T>(
    isPersistent: boolean,
    work: (storeOf: (scope: StateScope) => StateStore) => Promise<T>,
  ): Promise<T> {
    const { persistent, transient } = this.#dependencies.memory
    const memory = new MemoryStore(isPersistent ? persistent : transient)
    const plan = this.plan()?.state ?? null
    if (plan === null) return work(() => memory)
    const { log } = this.#dependencies
    const shared = new ValkeyStore({ plan, report: (event, fields) => log.warn(event, { ...fields }) })
    try {
      await shared.opened
      return await work((scope) => (scope === 'gateway' ? memory : shared))
    } finally {
      shared.close()
    }
  }
}
