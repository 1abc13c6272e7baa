import { setTimeout } from 'node:timers/promises'
import { type StateStore, StateUnavailable } from '@sluice/core'

/** How long workers wait for one that asks, beyond the time of its calls, ms. */
export const MARGIN_MS = 1000

const LOOK_EVERY_MS = 25
/** What a lock says: somebody asks, or has asked in vain. */
const ASKING = new Uint8Array([0])
const IN_VAIN = new Uint8Array([1])
/** All who wait have looked by then. */
const IN_VAIN_MS = 1000

/** What workers ask for together. */
export interface AskOnceOptions<T> {
  /** Where those who ask see each other. */
  readonly store: StateStore
  /** Of what is asked for. */
  readonly key: string
  /** How long others wait for who asks, ms. */
  readonly waitMs: number
  /** What another has found out; null: nothing yet. */
  find(): Promise<T | null>
  /** Asks, and keeps the answer where `find` finds it. Rejects with any Error. */
  ask(): Promise<T>
  /** Whether `find` finds the answer; absent: it does. */
  readonly isKept?: (answer: T) => boolean
}

/**
 * One call for all workers: the first one asks, the others look for its answer. When it fails, or its answer is not kept,
 * each of them asks by itself, as without the store and after `waitMs`. Rejects with what `ask` rejects with.
 */
export async function askOnce<T>(options: AskOnceOptions<T>): Promise<T> {
  const { store, key, waitMs, find, ask } = options
  const lock = `${key}:asked`
  try {
    for (const end = performance.now() + waitMs; performance.now() < end; await setTimeout(LOOK_EVERY_MS)) {
      const found = await find()
      if (found !== null) return found
      // Who asks may end without a word.
      if (await store.set(lock, ASKING, waitMs, 'absent')) return await askForAll(options, lock)
      if ((await store.get(lock))?.[0] === IN_VAIN[0]) break
    }
    return (await find()) ?? (await ask())
  } catch (error) {
    if (!(error instanceof StateUnavailable)) throw error
    return await ask()
  }
}

/** Asks while it holds the lock, and gives it back unless it has ended and is another's. */
async function askForAll<T>(
  { store, waitMs, find, ask, isKept = () => true }: AskOnceOptions<T>,
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
      const given = isAnswered ? store.delete(lock) : store.set(lock, IN_VAIN, IN_VAIN_MS)
      given.catch(() => {})
    }
  }
}
