const FREE = 0
const HELD = 1
const CONTENDED = 2
/**
 * Longest wait for a lock in milliseconds. Work under a lock takes microseconds, rarely milliseconds, so
 * after this time its thread must be gone.
 */
const MAX_WAIT_MS = 10_000

/**
 * A lock between threads in one word of shared memory (the mutex of U. Drepper, "Futexes Are Tricky", section
 * 5). Locking and unlocking without contention takes two atomic operations. Only contention needs a system
 * call.
 */
export class ShardLock {
  readonly #words: Int32Array
  readonly #at: number

  /** @param words shared memory; the word at `at` is the lock, initially 0. */
  constructor(words: Int32Array, at: number) {
    this.#words = words
    this.#at = at
  }

  /**
   * Locks.
   * @throws Error on a timeout: the thread that held the lock has ended, and the data may be half written.
   */
  take(): void {
    const words = this.#words
    const at = this.#at
    if (Atomics.compareExchange(words, at, FREE, HELD) === FREE) return
    while (Atomics.exchange(words, at, CONTENDED) !== FREE) {
      if (Atomics.wait(words, at, CONTENDED, MAX_WAIT_MS) === 'timed-out')
        throw new Error('the lock of a cache shard is held by a thread that has ended or hangs')
    }
  }

  giveBack(): void {
    if (Atomics.exchange(this.#words, this.#at, FREE) === CONTENDED) Atomics.notify(this.#words, this.#at, 1)
  }
}
