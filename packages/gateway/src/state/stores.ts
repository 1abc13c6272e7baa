import { randomBytes } from 'node:crypto'
import type { StatePlan } from '@sluice/config'
import { MemoryStore, type StateStore, type StateStores } from '@sluice/core'
import type { Closer, SharedTable } from '../compile/shared-table.js'
import { type ValkeyOptions, ValkeyStore } from './valkey/valkey-store.js'

/** The stores of a gateway that shares nothing with others. @param memory default: in this process. */
export function memoryStores(
  memory: StateStore = new MemoryStore(),
  secret: Uint8Array = randomBytes(32),
): StateStores {
  return { store: () => memory, isShared: false, secret }
}

/** What the stores of a snapshot are made of. */
export interface StoreSurroundings {
  readonly memory: StateStore
  /** What all workers of the gateway have, see StateStores; default: none does. */
  readonly secret?: Uint8Array | undefined
  readonly shared: SharedTable
  /** Receives what lets go of them. */
  readonly closers: Closer[]
  readonly report: ValkeyOptions['report']
}

/** The stores of a snapshot, once they are connected or cannot be; those with the same plan have one connection to the server together. */
export async function storesOf(
  plan: StatePlan | null,
  surroundings: StoreSurroundings,
): Promise<StateStores> {
  const { memory, secret = randomBytes(32), shared, closers, report } = surroundings
  if (plan === null) return memoryStores(memory, secret)
  const create = (): ValkeyStore => new ValkeyStore({ plan, report })
  const { value, release } = shared.acquire(`state:${JSON.stringify(plan)}`, create)
  closers.push(release)
  await value.opened
  return { store: (scope) => (scope === 'cluster' ? value : memory), isShared: true, secret }
}
