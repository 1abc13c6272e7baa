import type { StateStore } from '@sluice/core'
import type { LeaseTable } from './lease-table.js'

interface Used {
  readonly table: LeaseTable
  users: number
}

/** Lease tables of a worker by store. A table lives as long as a snapshot uses it. */
export class LeaseTables {
  readonly #byStore = new Map<StateStore, Map<string, Used>>()

  /** Returns the shared table of a group. @param group key of the policy uses that share their leases. */
  use(store: StateStore, group: string, create: () => LeaseTable): LeaseTable {
    const tables = this.#byStore.get(store) ?? new Map<string, Used>()
    this.#byStore.set(store, tables)
    const used = tables.get(group) ?? { table: create(), users: 0 }
    used.users++
    tables.set(group, used)
    return used.table
  }

  /** Releases a table. After the last use, all its leases are returned. */
  release(store: StateStore, group: string): void {
    const tables = this.#byStore.get(store)
    const used = tables?.get(group)
    if (tables === undefined || used === undefined || --used.users > 0) return
    used.table.clear()
    tables.delete(group)
    if (tables.size === 0) this.#byStore.delete(store)
  }
}
