import type { CachedValue, CacheStore } from '../contract/cache-store.js'
import type { StateStore } from '../contract/state.js'

/** Prefix of the keys of all cached values in the gateway's store. */
export const CACHED_PREFIX = 'cache:'
/**
 * Prefix of the keys of cached responses of other servers. They belong to no space, because a space name is
 * never empty.
 */
export const ANSWERS_PREFIX = `${CACHED_PREFIX}:`
/** Prefix of the keys of single-use values. */
export const USED_PREFIX = 'used:'

const LINE_END = 0x0a

/** Cache in the memory of the supervisor, shared by all workers of the gateway. */
export class LocalCache implements CacheStore {
  readonly #store: StateStore

  constructor(store: StateStore) {
    this.#store = store
  }

  async get(space: string, key: string): Promise<CachedValue | null> {
    const stored = await this.#store.get(nameOf(space, key))
    if (stored === null) return null
    const end = stored.indexOf(LINE_END)
    const contentType = Buffer.from(stored.subarray(0, end)).toString('latin1')
    return { contentType, bytes: stored.subarray(end + 1) }
  }

  /** Stores the media type as a line before the value. */
  async put(
    space: string,
    key: string,
    { bytes, contentType }: CachedValue,
    ttlMs: number,
  ): Promise<boolean> {
    const line = contentType.includes('\n') ? '' : contentType
    const stored = Buffer.concat([Buffer.from(`${line}\n`, 'latin1'), bytes])
    return this.#store.set(nameOf(space, key), stored, ttlMs)
  }

  async delete(space: string, key: string): Promise<void> {
    await this.#store.delete(nameOf(space, key))
  }

  async deleteAll(space: string): Promise<void> {
    await this.#store.deleteAll(nameOf(space, ''))
  }
}

/** Space names contain no colon, so no space is a prefix of another. */
function nameOf(space: string, key: string): string {
  return `${CACHED_PREFIX}${space}:${key}`
}
