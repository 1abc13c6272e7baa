import { CACHED_PREFIX, counterPrefix, MemoryTable, USED_PREFIX } from '@sluice/core'

/** Limits for quotas, which are written to disk as a whole. */
const PERSISTENT_BOUNDS = { entries: 100_000, bytes: 32 * 1024 ** 2 }
/**
 * Limits for the policy `cache` and answers of other servers. Separate, so that cached values cannot evict
 * counters.
 */
const CACHED_BOUNDS = { entries: 100_000, bytes: 128 * 1024 ** 2 }
const PERSISTENT_PREFIX = counterPrefix('quota', '').slice(0, 'quota'.length + 1)

/**
 * State that the supervisor holds for all workers. Quotas and cached values have separate tables, so that
 * they do not evict each other. So do single-use values: if unauthenticated clients could have them evicted,
 * they could be replayed.
 */
export class SharedMemory {
  readonly transient = new MemoryTable()
  /** Survives the supervisor through a file. */
  readonly persistent = new MemoryTable(PERSISTENT_BOUNDS)
  readonly cached = new MemoryTable(CACHED_BOUNDS)
  readonly singleUse = new MemoryTable()

  /** Returns the table of a key, or of all keys with this prefix. */
  tableOf(key: string): MemoryTable {
    if (key.startsWith(CACHED_PREFIX)) return this.cached
    if (key.startsWith(USED_PREFIX)) return this.singleUse
    return key.startsWith(PERSISTENT_PREFIX) ? this.persistent : this.transient
  }

  get entries(): number {
    return this.#sum(({ entries }) => entries)
  }

  get bytes(): number {
    return this.#sum(({ bytes }) => bytes)
  }

  get evictions(): number {
    return this.#sum(({ evictions }) => evictions)
  }

  #sum(count: (table: MemoryTable) => number): number {
    return [this.transient, this.persistent, this.cached, this.singleUse].reduce(
      (sum, table) => sum + count(table),
      0,
    )
  }
}
