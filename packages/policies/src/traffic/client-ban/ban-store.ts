import {
  BAN_CHANGES_MS,
  BANS_LIFTED,
  type BanEntry,
  banName,
  type CompileEnv,
  type MemoryStore,
  type StateScope,
  type StateStore,
} from '@sluice/core'
import { StorePause } from '../../shared/call/store-pause.js'

/** Durations of the counting window and of bans. */
export interface BanRules {
  readonly windowMs: number
  readonly banMs: number
  readonly growth: number
  readonly maxBanMs: number
}

/** Numbers of responses of one caller. */
export interface ResponseCount {
  readonly counted: number
  readonly all: number
}

/** Both numbers share one counter, so that they expire together. Each is less than this factor. */
const SHIFT = 2 ** 26
/** Maximum number of bans listed at once. */
const MAX_LISTED = 10_000
/** Maximum number of concurrent reads of bans. */
const MAX_LOOKED_FOR = 1000

/** Counts and bans of one policy in the shared store. Methods return null if the store does not respond. */
export class BanStore {
  readonly #id: string
  readonly #rules: BanRules
  readonly #main: StateStore
  readonly #local: StateStore | null
  readonly #pause: StorePause

  /** @param local fallback used while the shared store does not respond. */
  constructor(
    env: Pick<CompileEnv, 'state' | 'report'>,
    options: { readonly id: string; readonly scope: StateScope; readonly local: MemoryStore | null },
    rules: BanRules,
  ) {
    this.#main = env.state.store(options.scope)
    this.#pause = new StorePause((error) => env.report('ban_store_down', { error: String(error) }))
    this.#local = options.local
    this.#rules = rules
    this.#id = options.id
  }

  /** Adds responses to the count of a caller, and returns the new total. */
  count(key: string, { counted, all }: ResponseCount): Promise<ResponseCount | null> {
    const amount = counted * SHIFT + all
    return this.#ask(async (store) => {
      const sum = await store.add(this.#name('count', key), amount, this.#rules.windowMs)
      return { counted: Math.floor(sum / SHIFT), all: sum % SHIFT }
    })
  }

  /** Bans a caller, or returns the existing ban. @returns the end in milliseconds since 1970. */
  ban(key: string): Promise<{ readonly untilMs: number; readonly isNew: boolean } | null> {
    return this.#ask((store) => this.#banIn(store, key))
  }

  /**
   * Returns the numbers of bans made and lifted. Also returns null while the store is paused after a failure.
   */
  changes(): Promise<{ readonly made: number; readonly lifted: number } | null> {
    return this.#askMain(async (store) => {
      const changes = await store.add(this.#name('changes'), 0, BAN_CHANGES_MS)
      return { made: changes % BANS_LIFTED, lifted: Math.floor(changes / BANS_LIFTED) }
    })
  }

  /** Returns the bans that this worker does not know, with their end in milliseconds since 1970. */
  bans(isKnown: (key: string) => boolean): Promise<ReadonlyMap<string, number> | null> {
    const prefix = this.#name('ban', '')
    return this.#askMain(async (store) => {
      const names = await store.list(prefix, MAX_LISTED)
      const unknown = names.map((name) => name.slice(prefix.length)).filter((key) => !isKnown(key))
      const values = await Promise.all(unknown.map((key) => store.get(prefix + key)))
      return new Map(unknown.map((key, i) => [key, readNumber(values[i] ?? null)]))
    })
  }

  /** Returns the callers that are no longer banned. */
  lifted(keys: readonly string[]): Promise<string[] | null> {
    return this.#askMain(async (store) => {
      const lifted: string[] = []
      for (let at = 0; at < keys.length; at += MAX_LOOKED_FOR) {
        const some = keys.slice(at, at + MAX_LOOKED_FOR)
        const values = await Promise.all(some.map((key) => store.get(this.#name('ban', key))))
        lifted.push(...some.filter((_, i) => values[i] === null))
      }
      return lifted
    })
  }

  async #banIn(store: StateStore, key: string): Promise<{ untilMs: number; isNew: boolean }> {
    const { banMs } = this.#rules
    const name = this.#name('ban', key)
    const untilMs = Date.now() + banMs
    if (!(await store.set(name, encodeNumber(untilMs), banMs, 'absent'))) {
      const known = await store.get(name)
      return { untilMs: readNumber(known), isNew: false }
    }
    const moreMs = (await this.#lengthOf(store, key)) - banMs
    if (moreMs > 0) await store.set(name, encodeNumber(untilMs + moreMs), banMs + moreMs)
    // The count starts from zero after a ban.
    await store.delete(this.#name('count', key))
    await store.add(this.#name('changes'), 1, BAN_CHANGES_MS)
    return { untilMs: untilMs + Math.max(0, moreMs), isNew: true }
  }

  /**
   * Returns the length of a ban in milliseconds. Only the worker that set the ban calls this, so there is no
   * race.
   */
  async #lengthOf(store: StateStore, key: string): Promise<number> {
    const { banMs, growth, maxBanMs } = this.#rules
    if (growth === 1) return banMs
    const name = this.#name('bans', key)
    const before = readNumber(await store.get(name))
    const ms = Math.min(banMs * growth ** before, maxBanMs)
    await store.set(name, encodeNumber(before + 1), ms + maxBanMs)
    return ms
  }

  #name(entry: BanEntry, key = ''): string {
    return banName(this.#id, entry, key)
  }

  async #ask<T>(question: (store: StateStore) => Promise<T>): Promise<T | null> {
    const answer = await this.#askMain(question)
    return answer === null && this.#local !== null ? question(this.#local) : answer
  }

  #askMain<T>(question: (store: StateStore) => Promise<T>): Promise<T | null> {
    return this.#pause.try(() => question(this.#main))
  }
}

function encodeNumber(number: number): Uint8Array {
  return Buffer.from(String(number), 'latin1')
}

/** Returns the number, or 0 if the entry has expired. */
function readNumber(bytes: Uint8Array | null): number {
  return bytes === null ? 0 : Number(Buffer.from(bytes).toString('latin1')) || 0
}
