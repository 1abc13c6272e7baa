import { setTimeout } from 'node:timers/promises'
import { type StateStore, StateUnavailable } from '@sluice/core'

/** Additional time that workers wait for another's call, beyond its time limit, in milliseconds. */
export const MARGIN_MS = 1000

const LOOK_EVERY_MS = 25
/** Values of the lock: a call is running, or it has failed. */
const ASKING = new Uint8Array([0])
const FAILED = new Uint8Array([1])
/** Lifetime of a failed lock in milliseconds, long enough for all waiting workers to see it. */
const FAILED_MS = 1000

/** Options for `singleFlight`. */
export interface SingleFlightOptions<T> {
  /** Store through which the workers coordinate. */
  readonly store: StateStore
  /** Key of the requested value. */
  readonly key: string
  /** Maximum time to wait for another worker's call, in milliseconds. */
  readonly waitMs: number
  /** Returns the value that another worker has stored, or null. */
  find(): Promise<T | null>
  /** Calls the server and stores the answer for `find`. Rejects with any Error. */
  ask(): Promise<T>
  /** Returns true if `find` will find the answer. The default is true. */
  readonly isKept?: (answer: T) => boolean
}

/**
 * Makes one call for all workers: the first one calls, the others wait for its stored answer. If the call fails or
 * its answer is not stored, each worker calls for itself. The same applies without the store and after `waitMs`.
 * Rejects like `ask`.
 */
export async function singleFlight<T>(options: SingleFlightOptions<T>): Promise<T> {
  const { store, key, waitMs, find, ask } = options
  const lock = `${key}:asked`
  try {
    for (const end = performance.now() + waitMs; performance.now() < end; await setTimeout(LOOK_EVERY_MS)) {
      const found = await find()
      if (found !== null) return found
      // The worker that holds the lock may end without a result, so the lock expires.
      if (await store.set(lock, ASKING, waitMs, 'absent')) return await askForAll(options, lock)
      if ((await store.get(lock))?.[0] === FAILED[0]) break
    }
    return (await find()) ?? (await ask())
  } catch (error) {
    if (!(error instanceof StateUnavailable)) throw error
    return await ask()
  }
}

/** Makes the call while holding the lock. Releases the lock unless it has expired and may belong to another worker. */
async function askForAll<T>(
  { store, waitMs, find, ask, isKept = () => true }: SingleFlightOptions<T>,
  lock: string,
): Promise<T> {
  const end = performance.now() + waitMs
  let isAnswered = false
  try {
    const answer = (await find()) ?? (await ask())
    isAnswered = isKept(answer)
    return answer
  } finally {
    if (performance.now() < end) {
      const given = isAnswered ? store.delete(lock) : store.set(lock, FAILED, FAILED_MS)
      given.catch(() => {})
    }
  }
}
