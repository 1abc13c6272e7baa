import { CacheStore } from './cache-store.js'
import type { CacheSettings, SharedMemory } from './settings.js'

/** What entries of a space are kept in, and for how long. */
export interface Space {
  readonly store: CacheStore
  /** Null: until they are evicted. */
  readonly ttlMs: number | null
}

/** The stores of a thread, by space. Spaces that the settings do not name need no setting up: they share one store. */
export class Spaces {
  readonly #common: Space
  readonly #named = new Map<string, Space>()
  /** Each store under the name that metrics show. */
  readonly stores: ReadonlyMap<string, CacheStore>

  constructor({ ttlMs, spaces }: Pick<CacheSettings, 'ttlMs' | 'spaces'>, { common, own }: SharedMemory) {
    const store = new CacheStore(common)
    const stores = new Map([['', store]])
    this.#common = { store, ttlMs }
    for (const { space, memory } of own) stores.set(space, new CacheStore(memory))
    for (const { name, ttlMs } of spaces) this.#named.set(name, { store: stores.get(name) ?? store, ttlMs })
    this.stores = stores
  }

  of(name: string): Space {
    return this.#named.get(name) ?? this.#common
  }
}
