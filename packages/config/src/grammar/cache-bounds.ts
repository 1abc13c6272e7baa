/** Minimum size of a shard of the store. Smaller stores have one shard. */
const SHARD_BYTES = 16 * 1024 ** 2
/** A value may use this fraction (1/n) of a shard. */
const LARGEST_PART = 8
/** Space per value for its key, type, tags and header. */
const BESIDE_VALUE_BYTES = 4096

/** Returns the size of the largest value that a cache server with this memory can store, in bytes. */
export function longestCachedValue(memoryBytes: number): number {
  return Math.floor(Math.min(memoryBytes, SHARD_BYTES) / LARGEST_PART) - BESIDE_VALUE_BYTES
}

/** True if a string can be the token of a cache server: 16 to 4096 visible ASCII characters. */
export function isCacheToken(text: string): boolean {
  return /^[\x21-\x7e]{16,4096}$/.test(text)
}
