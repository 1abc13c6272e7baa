import { counterPrefix, MemoryTable } from '@sluice/core'

/** Of quotas: they are written to disk as a whole. */
const LASTING_BOUNDS = { entries: 100_000, bytes: 32 * 1024 ** 2 }
const LASTING_PREFIX = counterPrefix('quota', '').slice(0, 'quota'.length + 1)

/** What the supervisor holds for all workers. Quotas have a table of their own: other keys cannot push them out. */
export class SharedMemory {
  readonly passing = new MemoryTable()
  /** Outlives the supervisor, by a file. */
  readonly lasting = new MemoryTable(LASTING_BOUNDS)

  /** Where a key, or all that begin with it, are held. */
  tableOf(key: string): MemoryTable {
    return key.startsWith(LASTING_PREFIX) ? this.lasting : this.passing
  }

  get entries(): number {
    return this.passing.entries + this.lasting.entries
  }

  get bytes(): number {
    return this.passing.bytes + this.lasting.bytes
  }

  get evictions(): number {
    return this.passing.evictions + this.lasting.evictions
  }
}
