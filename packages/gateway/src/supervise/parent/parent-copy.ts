import type { StoredEntry, StoredLimit } from '@sluice/core'
import type { SharedMemory } from '../../state/shared-memory.js'
import { hasParent, notifyParent, onParentMessage } from './parent-link.js'

/** Copy interval in milliseconds. Newer counts are lost if the supervisor is killed. */
const EVERY_MS = 50

/**
 * Copies the counts of rate limits and quotas to the parent process, which survives a killed supervisor.
 * Restores the counts of the previous supervisor. Returns a stop function. Does nothing without a parent.
 */
export function copyLimitsToParent(memory: SharedMemory): () => void {
  if (!hasParent()) return () => {}
  const tables = [memory.transient, memory.persistent]
  for (const table of tables) table.changed = new Set()
  const stopRestoring = onParentMessage((message) => {
    if ('limits' in message) for (const limit of message.limits) memory.tableOf(limit[0]).restore([limit])
    if ('entries' in message) for (const entry of message.entries) memory.tableOf(entry[0]).addCopy(entry)
  })
  const timer = setInterval(() => {
    const limits = tables.flatMap((table) => {
      const changed = [...table.changed!]
      table.changed!.clear()
      return changed.map((key) => table.limit(key) ?? ([key] as const))
    })
    if (limits.length > 0) void notifyParent({ state: 'limits', limits })
  }, EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    stopRestoring()
  }
}

/**
 * Sends the shared memory to the supervisor of the next version: limits, counters, bans and single-use values, at
 * most `MAX_COPIES` per table. Cached values are not sent.
 */
export async function sendMemory(memory: SharedMemory): Promise<void> {
  let piece: StoredEntry[] = []
  for (const table of [memory.persistent, memory.transient, memory.singleUse]) {
    for (const entry of table.entriesToCopy(MAX_COPIES)) {
      if (piece.push(entry) < PIECE) continue
      // Waiting bounds the memory that unsent messages need.
      await notifyParent({ state: 'handover', message: { entries: piece } })
      piece = []
    }
  }
  await notifyParent({ state: 'handover', message: { entries: piece } })
}

/** The parent's copy of the counts. It is bounded: the least recently changed entries are dropped. */
export class LimitCopies {
  readonly #byKey = new Map<string, StoredLimit>()

  /** @param limits changed limits; a key alone means that the limit was deleted. */
  note(limits: readonly (StoredLimit | readonly [key: string])[]): void {
    for (const limit of limits) {
      this.#byKey.delete(limit[0])
      if (limit.length > 1) this.#byKey.set(limit[0], limit as StoredLimit)
    }
    for (const key of this.#byKey.keys()) {
      if (this.#byKey.size <= MAX_COPIES) return
      this.#byKey.delete(key)
    }
  }

  /** Returns all limits in chunks that fit one message. */
  *pieces(): Generator<readonly StoredLimit[]> {
    const all = [...this.#byKey.values()]
    for (let from = 0; from < all.length; from += PIECE) yield all.slice(from, from + PIECE)
  }
}

const MAX_COPIES = 100_000
const PIECE = 5000
