/** A shard of a store has at least so many bytes, or all of the store; one value takes an eighth of it. */
const SHARD_BYTES = 16 * 1024 ** 2
const LARGEST_PART = 8
/** A value is stored with its key, its type, its tags and a head. */
const BESIDE_VALUE_BYTES = 4096

/** The longest value that a cache server can store in so much memory, in bytes. */
export function longestCachedValue(memoryBytes: number): number {
  return Math.floor(Math.min(memoryBytes, SHARD_BYTES) / LARGEST_PART) - BESIDE_VALUE_BYTES
}

/** Whether a text can be the token of a cache server: 16 to 4096 visible ASCII characters. */
export function isCacheToken(text: string): boolean {
  return /^[\x21-\x7e]{16,4096}$/.test(text)
}
