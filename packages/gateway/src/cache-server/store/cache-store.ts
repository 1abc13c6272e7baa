import { randomBytes } from 'node:crypto'
import type { Entry, FoundEntry } from './entry.js'
import { keyHash } from './key-hash.js'
import { Shard, shardMemory } from './shard.js'

/** Minimum shard size in bytes, so that large values fit, and maximum number of shards. */
const LEAST_SHARD_BYTES = 16 * 1024 ** 2
const MAX_SHARDS = 64
/** Number of buckets scanned per turn of the event loop: about 1,024 records, less than a millisecond. */
const PURGED_AT_ONCE = 1024

/** Memory of a store, shared by all threads. */
export interface StoreMemory {
  readonly shards: readonly SharedArrayBuffer[]
  readonly ringBytes: number
  /** Hash secret, so that clients cannot predict the hash of a key. */
  readonly secret: readonly [number, number]
}

/** Entries to purge; without prefix and tag, all. Neither is a pattern. */
export interface PurgeOrder {
  readonly prefix: string
  readonly tag: string
}

/** Creates memory for entries of this total size. The system allocates it on first write. */
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

/**
 * Entries by key with a fixed total size, shared by the threads of a process. Keys hold one byte per
 * character.
 */
export class CacheStore {
  readonly #shards: readonly Shard[]
  readonly #secret: StoreMemory['secret']
  readonly #shift: number

  constructor({ shards, ringBytes, secret }: StoreMemory) {
    this.#shards = shards.map((memory) => new Shard(memory, ringBytes))
    this.#secret = secret
    this.#shift = 32 - Math.log2(shards.length)
  }

  /** Maximum record size: key, content type, tags, value, and 48 bytes. */
  get largestRecord(): number {
    return this.#shards[0]!.largestRecord
  }

  /** Copies the value into `found`. Returns false if there is none. */
  read(key: string, nowMs: number, found: FoundEntry): boolean {
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).read(key, hash, { nowMs, found })
  }

  /** Writes an entry and returns its version; 0 if `onlyIfAbsent` is set and the key exists. */
  write(entry: Omit<Entry, 'hash'>, nowMs: number, onlyIfAbsent: boolean): number {
    const { key, type, tags, value, expiresAt } = entry
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).write({ key, hash, type, tags, value, expiresAt }, nowMs, onlyIfAbsent)
  }

  /** Copies an entry with its tags and expiry; null if there is none. */
  copy(key: string, nowMs: number): Entry | null {
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).copy(key, hash, nowMs)
  }

  /** Iterates over all keys in batches, yielding to the event loop in between. */
  async *keys(): AsyncGenerator<string[]> {
    for (const shard of this.#shards) {
      for (let from = 0; from < shard.buckets; from += PURGED_AT_ONCE) {
        yield shard.keys(from, Math.min(shard.buckets, from + PURGED_AT_ONCE))
        await new Promise(setImmediate)
      }
    }
  }

  /** Removes an entry. Returns false if there was none. */
  remove(key: string, nowMs: number): boolean {
    const hash = keyHash(key, this.#secret[0], this.#secret[1])
    return this.#shardOf(hash).remove(key, hash, nowMs)
  }

  /**
   * Purges entries and returns their number. It scans the whole store, yielding to the event loop in between.
   */
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

  /** Returns the counts of all shards; `evicted` and `expired` since the start. */
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

  /** Selects a shard by the highest hash bits; the lowest select the bucket. */
  #shardOf(hash: number): Shard {
    return this.#shards[this.#shift === 32 ? 0 : hash >>> this.#shift]!
  }
}
