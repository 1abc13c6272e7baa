import { CacheStore } from './cache-store.js'
import type { CacheSettings, SharedMemory } from './settings.js'

/** Store and default lifetime of a space. */
export interface Space {
  readonly store: CacheStore
  /** Default lifetime in milliseconds; null until evicted. */
  readonly ttlMs: number | null
}

/** The stores of a thread, by space. Spaces without settings need no setup: they share one store. */
export class Spaces {
  readonly #common: Space
  readonly #named = new Map<string, Space>()
  /** Stores by their name in metrics. */
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
