const FREE = 0
const HELD = 1
const CONTENDED = 2
/** What is done under a lock takes microseconds, rarely milliseconds: who waits longer waits for a thread that is gone. */
const MAX_WAIT_MS = 10_000

/**
 * A lock between threads in one word of shared memory (the mutex of U. Drepper, "Futexes Are Tricky", section 5):
 * taking and giving back a free one is two atomic operations, and only who finds it held asks the system.
 */
export class ShardLock {
  readonly #words: Int32Array
  readonly #at: number

  /** @param words shared; the word at `at` is the lock's, 0 at the beginning. */
  constructor(words: Int32Array, at: number) {
    this.#words = words
    this.#at = at
  }

  /** @throws Error when it is not given back: the thread that held it has ended, and what it guards is half written. */
  take(): void {
    const words = this.#words
    const at = this.#at
    if (Atomics.compareExchange(words, at, FREE, HELD) === FREE) return
    while (Atomics.exchange(words, at, CONTENDED) !== FREE) {
      if (Atomics.wait(words, at, CONTENDED, MAX_WAIT_MS) === 'timed-out')
        throw new Error('a thread that ended, or hangs, holds the lock of a shard')
    }
  }

  giveBack(): void {
    if (Atomics.exchange(this.#words, this.#at, FREE) === CONTENDED) Atomics.notify(this.#words, this.#at, 1)
  }
}
