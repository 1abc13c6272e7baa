import { setTimeout } from 'node:timers/promises'
import { type StateStore, StateUnavailable } from '@sluice/core'

const LOOK_EVERY_MS = 25
const NOTHING = new Uint8Array(0)

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
}

/**
 * One call for all workers: the first one asks, the others look for its answer. When it fails the next one asks. Without
 * the store, and after `waitMs`, each asks by itself. Rejects with what `ask` rejects with.
 */
export async function askOnce<T>(options: AskOnceOptions<T>): Promise<T> {
  const { store, key, waitMs, find, ask } = options
  const lock = `${key}:asked`
  let isOurs = false
  try {
    for (const end = performance.now() + waitMs; performance.now() < end; await setTimeout(LOOK_EVERY_MS)) {
      const found = await find()
      if (found !== null) return found
      // Who asks may end without a word.
      isOurs = await store.set(lock, NOTHING, waitMs, 'absent')
      if (isOurs) break
    }
    const found = await find()
    if (found !== null) return found
    return await ask()
  } catch (error) {
    if (!(error instanceof StateUnavailable)) throw error
    return await ask()
  } finally {
    if (isOurs) store.delete(lock).catch(() => {})
  }
}
