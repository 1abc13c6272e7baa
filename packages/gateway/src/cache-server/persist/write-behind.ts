import type { CacheStore } from '../cache-store.js'

/** Keys that wait to be written, with as much for each beside it. */
const MAX_WAITING_BYTES = 16 * 1024 ** 2
const BESIDE_KEY_BYTES = 64
/** On their way at a time. */
const MAX_SENT_BYTES = 2 * 1024 ** 2
const MAX_SENT = 500
/** Keys that wait while the whole memory is written again, so that those of callers find room. */
const REWRITE_AHEAD = 5000

/** What a queue of keys needs. */
export interface WriteBehindOptions {
  /** Sends what the memory has for the key now; answers how many bytes that are. Calls `done` with whether it came there. */
  readonly send: (key: string, done: (isKept: boolean) => void) => number
  /** More keys wait than there is room for. */
  readonly onFull: () => void
  /** What was sent did not come there. */
  readonly onFailed: () => void
}

/**
 * Keys whose values are to be written to Valkey, each once however often it has changed. What is written is what the memory
 * has when its turn comes: of a value that is gone by then Valkey forgets what it has.
 */
export class WriteBehind {
  readonly #options: WriteBehindOptions
  readonly #waiting = new Set<string>()
  #bytes = 0
  #sent = 0
  #sentBytes = 0
  #holds = 0
  #isOn = false
  #round = 0
  #onIdle: (() => void)[] = []

  constructor(options: WriteBehindOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  has(key: string): boolean {
    return this.#waiting.has(key)
  }

  /** Writes from now on, all that the stores have first. */
  start(stores: readonly CacheStore[]): void {
    this.#isOn = true
    void this.#rewrite(stores, ++this.#round)
  }

  /** Forgets all keys. */
  stop(): void {
    this.#isOn = false
    this.#round++
    this.#waiting.clear()
    this.#bytes = 0
    this.#tellIdle()
  }

  add(key: string): void {
    if (!this.#isOn || this.#waiting.has(key)) return
    this.#bytes += key.length + BESIDE_KEY_BYTES
    if (this.#bytes > MAX_WAITING_BYTES) {
      this.#options.onFull()
      return
    }
    this.#waiting.add(key)
    this.#pump()
  }

  /** Its value is not written any more. */
  forget(key: string): void {
    if (this.#waiting.delete(key)) this.#bytes -= key.length + BESIDE_KEY_BYTES
  }

  /** Sends nothing until it is released as often. */
  hold(): void {
    this.#holds++
  }

  release(): void {
    this.#holds = Math.max(0, this.#holds - 1)
    this.#pump()
  }

  /** Resolves when nothing waits and nothing is on its way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve)
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#holds > 0) return
    for (const key of this.#waiting) {
      if (!this.#isOn || this.#sent >= MAX_SENT || this.#sentBytes >= MAX_SENT_BYTES) return
      this.forget(key)
      this.#sent++
      const bytes = this.#options.send(key, (isKept) => this.#onDone(bytes, isKept))
      this.#sentBytes += bytes
    }
    if (this.#sent === 0) this.#tellIdle()
  }

  #onDone(bytes: number, isKept: boolean): void {
    this.#sent--
    this.#sentBytes -= bytes
    if (!isKept) this.#options.onFailed()
    this.#pump()
  }

  #tellIdle(): void {
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  async #rewrite(stores: readonly CacheStore[], round: number): Promise<void> {
    for (const store of stores) {
      for await (const keys of store.keys()) {
        while (round === this.#round && this.#waiting.size > REWRITE_AHEAD)
          await new Promise((resolve) => setTimeout(resolve, 5))
        if (round !== this.#round) return
        for (const key of keys) this.add(key)
      }
    }
  }
}
