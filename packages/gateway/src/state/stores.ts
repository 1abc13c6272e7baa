import { randomBytes } from 'node:crypto'
import type { StatePlan } from '@sluice/config'
import { MemoryStore, type StateStore, type StateStores } from '@sluice/core'
import type { Closer, SharedTable } from '../lib/shared-table.js'
import { type ValkeyOptions, ValkeyStore } from './valkey/valkey-store.js'

/**
 * Returns stores of a gateway that shares nothing with others.
 * @param memory state store; defaults to one in this process.
 */
export function memoryStores(
  memory: StateStore = new MemoryStore(),
  secret: Uint8Array = randomBytes(32),
): StateStores {
  return { store: () => memory, isShared: false, secret }
}

interface StoreDependencies {
  readonly memory: StateStore
  /** Secret shared by all workers, see StateStores; defaults to none. */
  readonly secret?: Uint8Array | undefined
  readonly shared: SharedTable
  /** Receives cleanup functions. */
  readonly closers: Closer[]
  readonly report: ValkeyOptions['report']
}

/**
 * Opens the stores of a snapshot and waits until they are connected or the wait times out. Snapshots with the
 * same plan share one connection.
 */
export async function storesOf(
  plan: StatePlan | null,
  dependencies: StoreDependencies,
): Promise<StateStores> {
  const { memory, secret = randomBytes(32), shared, closers, report } = dependencies
  if (plan === null) return memoryStores(memory, secret)
  const create = (): ValkeyStore => new ValkeyStore({ plan, report })
  const { value, release } = shared.acquire(`state:${JSON.stringify(plan)}`, create)
  closers.push(release)
  await value.opened
  return { store: (scope) => (scope === 'cluster' ? value : memory), isShared: true, secret }
}
