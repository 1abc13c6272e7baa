import { CACHED_PREFIX, counterPrefix, MemoryTable, USED_PREFIX } from '@sluice/core'

/** Of quotas: they are written to disk as a whole. */
const LASTING_BOUNDS = { entries: 100_000, bytes: 32 * 1024 ** 2 }
/** Of the policy `cache`, and answers of other servers: what callers make it keep cannot push out what counts them. */
const CACHED_BOUNDS = { entries: 100_000, bytes: 128 * 1024 ** 2 }
const LASTING_PREFIX = counterPrefix('quota', '').slice(0, 'quota'.length + 1)

/**
 * What the supervisor holds for all workers. Quotas and cached values have tables of their own, so that none pushes out
 * another; so has what may be used once, which would come again if callers without credentials could have it forgotten.
 */
export class SharedMemory {
  readonly passing = new MemoryTable()
  /** Outlives the supervisor, by a file. */
  readonly lasting = new MemoryTable(LASTING_BOUNDS)
  readonly cached = new MemoryTable(CACHED_BOUNDS)
  readonly used = new MemoryTable()

  /** Where a key, or all that begin with it, are held. */
  tableOf(key: string): MemoryTable {
    if (key.startsWith(CACHED_PREFIX)) return this.cached
    if (key.startsWith(USED_PREFIX)) return this.used
    return key.startsWith(LASTING_PREFIX) ? this.lasting : this.passing
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
    return [this.passing, this.lasting, this.cached, this.used].reduce((sum, table) => sum + count(table), 0)
  }
}
