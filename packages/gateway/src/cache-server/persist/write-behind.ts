import type { CacheStore } from '../store/cache-store.js'

/** Maximum memory of waiting keys, including an overhead per key, in bytes. */
const MAX_WAITING_BYTES = 16 * 1024 ** 2
const BESIDE_KEY_BYTES = 64
/** Limits of writes in progress. */
const MAX_SENT_BYTES = 2 * 1024 ** 2
const MAX_SENT = 500
/** Maximum number of waiting keys added while all values are written again, to leave room for new writes. */
const REWRITE_AHEAD = 5000

interface WriteBehindOptions {
  /** Sends the current value of a key and returns its size in bytes. Calls `done` with true on success. */
  readonly send: (key: string, done: (isKept: boolean) => void) => number
  /** Called when the queue is full. */
  readonly onFull: () => void
  /** Called when a write failed. */
  readonly onFailed: () => void
}

/**
 * Queue of keys to write to Valkey. Each key is queued once, however often it changes. The value is read when
 * its turn comes; if it is gone by then, it is removed from Valkey.
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

  /** Starts writing, beginning with all values in the stores. */
  start(stores: readonly CacheStore[]): void {
    this.#isOn = true
    void this.#rewrite(stores, ++this.#round)
  }

  /** Stops writing and clears the queue. */
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

  forget(key: string): void {
    if (this.#waiting.delete(key)) this.#bytes -= key.length + BESIDE_KEY_BYTES
  }

  /** Pauses sending until `release` was called as often. */
  hold(): void {
    this.#holds++
  }

  release(): void {
    this.#holds = Math.max(0, this.#holds - 1)
    this.#pump()
  }

  /** Resolves when the queue is empty and nothing is being sent. */
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
