import { randomUUID } from 'node:crypto'
import type { ControlStore } from '../store/control-store.js'
import type { LogEntry, LogEvent, NumberedEntry } from '../store/log-entry.js'
import { type ControlState, EMPTY_STATE, stateAfter } from './control-state.js'

/** Number of entries that are read at once. */
const BATCH = 1000

/** Author of an entry. */
export interface Author {
  readonly actor: string
  readonly address: string | null
}

/** Author of the entries that a controller writes by itself. */
export const CONTROLLER: Author = { actor: 'controller', address: null }

/** Dependencies of a log. */
export interface LogOptions {
  readonly store: ControlStore
  /** Id of this controller. */
  readonly controller: string
  /** Current time in milliseconds since 1970. */
  readonly now: () => number
  /** Reports that the store is unavailable, or available again (null). */
  readonly onProblem: (problem: unknown) => void
  /** Called after this controller has appended an entry. */
  readonly onAppended: (entry: NumberedEntry) => void
}

/** The log as this controller has read it, and the state that follows from it. */
export class ControlLog {
  readonly #options: LogOptions
  readonly #listeners = new Set<() => void>()
  #state = EMPTY_STATE
  #reading: Promise<void> | null = null
  #isReadAgain = false
  #stopWatching: () => void = () => {}

  constructor(options: LogOptions) {
    this.#options = options
  }

  get state(): ControlState {
    return this.#state
  }

  /** Reads the log and follows it. @throws Error if the store is unavailable */
  async start(): Promise<void> {
    await this.read()
    this.#stopWatching = this.#options.store.watch((change) => {
      if (change === 'entries') this.read().then(() => this.#options.onProblem(null), this.#options.onProblem)
    })
  }

  /** Calls the listener after the state has changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  close(): void {
    this.#stopWatching()
    this.#listeners.clear()
  }

  /** Reads all entries that exist at the time of the call. @throws Error if the store is unavailable */
  read(): Promise<void> {
    if (this.#reading !== null) {
      this.#isReadAgain = true
      return this.#reading
    }
    this.#reading = this.#readAll()
    return this.#reading
  }

  /**
   * Appends the event that `decide` returns for the current state. If another controller is faster, `decide` is called
   * again. Returns the number of the entry, or null if `decide` returned null.
   * @throws Error from `decide`, or if the store is unavailable. Then the entry may have been written.
   */
  async append(author: Author, decide: (state: ControlState) => LogEvent | null): Promise<number | null> {
    const { controller, now } = this.#options
    for (;;) {
      const event = decide(this.#state)
      if (event === null) return null
      const at = new Date(now()).toISOString()
      const entry: LogEntry = { id: randomUUID(), at, ...author, controller, ...event }
      const { seq } = this.#state
      const appended = await this.#appendAfter(entry, seq)
      if (appended !== null) this.#options.onAppended({ ...entry, seq: appended })
      await this.read()
      if (appended !== null) return appended
      // Without this check, a store that refuses for ever would keep this loop busy.
      if (this.#state.seq === seq) throw new Error('the store refuses an entry although it has no newer ones')
    }
  }

  /** Appends an entry. If the connection is lost meanwhile, looks whether it was written. */
  async #appendAfter(entry: LogEntry, seq: number): Promise<number | null> {
    const { store } = this.#options
    try {
      return await store.append(entry, seq)
    } catch (error) {
      const written = await store.entriesAfter(seq, 1).catch(() => [])
      if (written[0]?.id === entry.id) return written[0].seq
      throw error
    }
  }

  async #readAll(): Promise<void> {
    const before = this.#state
    try {
      do {
        this.#isReadAgain = false
        for (;;) {
          const entries = await this.#options.store.entriesAfter(this.#state.seq, BATCH)
          for (const entry of entries) this.#state = stateAfter(this.#state, entry)
          if (entries.length < BATCH) break
        }
      } while (this.#isReadAgain)
    } finally {
      this.#reading = null
    }
    if (this.#state === before) return
    for (const listener of this.#listeners) listener()
  }
}
