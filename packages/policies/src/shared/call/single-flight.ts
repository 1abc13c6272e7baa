import { setTimeout } from 'node:timers/promises'
import { MAX_STATE_VALUE_BYTES, messageOf, type StateStore, StateUnavailable } from '@sluice/core'

/** Additional time that workers wait for another's call, beyond its time limit, in milliseconds. */
export const MARGIN_MS = 1000

const LOOK_EVERY_MS = 25
/** Values of the lock: a call is running, or it has failed. */
const ASKING = new Uint8Array([0])
const FAILED = new Uint8Array([1])
/** Lifetime of a failed lock in milliseconds, long enough for all waiting workers to see it. */
const FAILED_MS = 1000

interface SingleFlightOptions<T> {
  /** Store through which the workers share the value. */
  readonly store: StateStore
  readonly key: string
  /** Maximum time to wait for another worker's call, in milliseconds. */
  readonly waitMs: number
  /** Decodes a stored value. Returns null, or throws, if it is unusable. */
  read(bytes: Uint8Array): T | null
  /** Calls the server. Rejects with any Error. */
  ask(): Promise<Obtained<T>>
  /** Called with the reason if the store is unavailable. */
  readonly onDown?: (reason: string) => void
}

/** A value from the server, and its form for the other workers. */
export interface Obtained<T> {
  readonly value: T
  /** Encoded value, or null if the others cannot use it. */
  readonly bytes: Uint8Array | null
  /** Lifetime in the store in milliseconds. 0 if it must not be stored. */
  readonly ttlMs: number
  /** True if the others find the value in the store already. */
  readonly isStored?: boolean
}

/**
 * Makes one call for all workers: the first one calls, the others wait for its stored value. If the call fails or
 * its value cannot be stored, each worker calls for itself. The same applies without the store and after `waitMs`.
 * Rejects like `ask`.
 */
export async function singleFlight<T>(options: SingleFlightOptions<T>): Promise<T> {
  const { store, key, waitMs, onDown } = options
  const lock = `${key}:asked`
  try {
    for (const end = performance.now() + waitMs; performance.now() < end; await setTimeout(LOOK_EVERY_MS)) {
      const found = await find(options)
      if (found !== null) return found
      // The worker that holds the lock may end without a result, so the lock expires.
      if (await store.set(lock, ASKING, waitMs, 'absent')) return await askForAll(options, lock)
      if ((await store.get(lock))?.[0] === FAILED[0]) break
    }
    return (await find(options)) ?? (await askAndStore(options)).value
  } catch (error) {
    if (!(error instanceof StateUnavailable)) throw error
    onDown?.(error.message)
    return (await askAndStore(options)).value
  }
}

async function find<T>({ store, key, read }: SingleFlightOptions<T>): Promise<T | null> {
  const bytes = await store.get(key)
  try {
    return bytes === null ? null : read(bytes)
  } catch {
    return null
  }
}

/** Makes the call while holding the lock. Releases the lock unless it has expired and may belong to another worker. */
async function askForAll<T>(options: SingleFlightOptions<T>, lock: string): Promise<T> {
  const { store, waitMs } = options
  const end = performance.now() + waitMs
  let isStored = false
  try {
    const found = await find(options)
    const obtained = found === null ? await askAndStore(options) : { value: found, isStored: true }
    isStored = obtained.isStored
    return obtained.value
  } finally {
    if (performance.now() < end) {
      const given = isStored ? store.delete(lock) : store.set(lock, FAILED, FAILED_MS)
      given.catch(() => {})
    }
  }
}

async function askAndStore<T>({ store, key, ask, onDown }: SingleFlightOptions<T>) {
  const { value, bytes, ttlMs, isStored = false } = await ask()
  if (bytes === null || ttlMs <= 0 || bytes.length > MAX_STATE_VALUE_BYTES) return { value, isStored }
  try {
    return { value, isStored: await store.set(key, bytes, Math.ceil(ttlMs)) }
  } catch (error) {
    onDown?.(messageOf(error))
    return { value, isStored: false }
  }
}
