import { randomBytes } from 'node:crypto'
import type { Entry, FoundEntry } from './entry.js'
import { keyHash } from './key-hash.js'
import { Shard, shardMemory } from './shard.js'

/** A shard has at least so many bytes, so that large values find room; and there are no more shards than that. */
const LEAST_SHARD_BYTES = 16 * 1024 ** 2
const MAX_SHARDS = 64
/** Buckets that are looked through at a time: 1,024 records or so, under a millisecond. */
const PURGED_AT_ONCE = 1024

/** The memory of a store, which all threads work with. */
export interface StoreMemory {
  readonly shards: readonly SharedArrayBuffer[]
  readonly ringBytes: number
  /** Makes the hash of keys unknown to those who choose them. */
  readonly secret: readonly [number, number]
}

/** Which entries are purged; with neither, all. Both are taken as they are, not as patterns. */
export interface PurgeOrder {
  readonly prefix: string
  readonly tag: string
}

/** Memory for so many bytes of entries; the system gives it out when it is first written to. */
export function createStoreMemory(maxBytes: number): StoreMemory {
  const wanted = 2 ** Math.floor(Math.log2(Math.max(1, maxBytes / LEAST_SHARD_BYTES)))
  const count = Math.min(MAX_SHARDS, wanted)
  const ringBytes = Math.floor(maxBytes / count / 8) * 8
  const random = randomBytes(8)
  return {
    shards: Array.from({ length: count }, () => shardMemory(ringBytes)),
    ringBytes,
    secret: [random.readInt32LE(0), random.readInt32LE(4)],
  }
}

/** Entries by key, within a fixed number of bytes, shared by the threads of a process. Keys hold one byte a character. */
export class CacheStore {
  readonly #shards: readonly Shard[]
  readonly #secret: StoreMemory['secret']
  readonly #shift: number

  constructor({ shards, ringBytes, secret }: StoreMemory) {
    this.#shards = shards.map((memory) => new Shard(memory, ringBytes))
    this.#secret = secret
    this.#shift = 32 - Math.log2(shards.length)
  }

  /** Largest record: key, content type, tags, value, and 48 bytes. */
  get largestRecord(): number {
    return this.#shards[0]!.largestRecord
  }

  /** Copies the value into `found`; false: there is none. */
  read(key: string, nowMs: number, found: FoundEntry): boolean {
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).read(key, hash, { nowMs, found })
  }

  /** Answers the version of what was written; 0: `onlyIfAbsent`, and there is one. */
  write(entry: Omit<Entry, 'hash'>, nowMs: number, onlyIfAbsent: boolean): number {
    const { key, type, tags, value, expiresAt } = entry
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).write({ key, hash, type, tags, value, expiresAt }, nowMs, onlyIfAbsent)
  }

  /** All of an entry, its tags and its end among it; null: there is none. */
  copy(key: string, nowMs: number): Entry | null {
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).copy(key, hash, nowMs)
  }

  /** All keys, some at a time, with turns of the event loop for others in between. */
  async *keys(): AsyncGenerator<string[]> {
    for (const shard of this.#shards) {
      for (let from = 0; from < shard.buckets; from += PURGED_AT_ONCE) {
        yield shard.keys(from, Math.min(shard.buckets, from + PURGED_AT_ONCE))
        await new Promise(setImmediate)
      }
    }
  }

  /** False: there was none. */
  remove(key: string, nowMs: number): boolean {
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).remove(key, hash, nowMs)
  }

  /** Looks through the whole store, with a turn of the event loop for others in between; answers how many it removed. */
  async purge(order: PurgeOrder): Promise<number> {
    let removed = 0
    for (const shard of this.#shards) {
      for (let from = 0; from < shard.buckets; from += PURGED_AT_ONCE) {
        removed += shard.purge(from, Math.min(shard.buckets, from + PURGED_AT_ONCE), order)
        await new Promise(setImmediate)
      }
    }
    return removed
  }

  /** Numbers of all shards; `evicted` and `expired` since the beginning. */
  counts(): ReturnType<Shard['counts']> {
    const sum = { entries: 0, bytes: 0, evicted: 0, expired: 0 }
    for (const shard of this.#shards) {
      const { entries, bytes, evicted, expired } = shard.counts()
      sum.entries += entries
      sum.bytes += bytes
      sum.evicted += evicted
      sum.expired += expired
    }
    return sum
  }

  /** By the highest bits: the lowest choose the bucket. */
  #shardOf(hash: number): Shard {
    return this.#shards[this.#shift === 32 ? 0 : hash >>> this.#shift]!
  }
}
