import type { StateStore } from '@sluice/core'
import type { LeaseTable } from './lease-table.js'

interface Used {
  readonly table: LeaseTable
  users: number
}

/** The leases of a worker, by the store that they come from; a table lives as long as some snapshot uses it. */
export class LeaseTables {
  readonly #byStore = new Map<StateStore, Map<string, Used>>()

  /** @param group what uses of a policy agree in that have their leases together. */
  use(store: StateStore, group: string, create: () => LeaseTable): LeaseTable {
    const tables = this.#byStore.get(store) ?? new Map<string, Used>()
    this.#byStore.set(store, tables)
    const used = tables.get(group) ?? { table: create(), users: 0 }
    used.users++
    tables.set(group, used)
    return used.table
  }

  /** After the last one all leases go back. */
  release(store: StateStore, group: string): void {
    const tables = this.#byStore.get(store)
    const used = tables?.get(group)
    if (tables === undefined || used === undefined || --used.users > 0) return
    used.table.clear()
    tables.delete(group)
    if (tables.size === 0) this.#byStore.delete(store)
  }
}
