import type { CachedValue, CacheStore } from '../contract/cache-store.js'
import type { StateStore } from '../contract/state.js'

/** What all keys of cached values begin with in the store of the gateway. */
export const CACHED_PREFIX = 'cache:'
/** The same of answers of other servers, which are in no space: none has an empty name. */
export const ANSWERS_PREFIX = `${CACHED_PREFIX}:`
/** What all keys begin with that may be used once. */
export const USED_PREFIX = 'used:'

const LINE_END = 0x0a

/** Values in the memory of the supervisor, for all workers of the gateway. */
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

  /** The type is one line before the value. */
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

/** No space holds a colon, so that none is the beginning of another. */
function nameOf(space: string, key: string): string {
  return `${CACHED_PREFIX}${space}:${key}`
}
