import type { PurgeOrder } from '../store/cache-store.js'
import { keyHash } from '../store/key-hash.js'
import type { PersistAnswer, PersistCall, PersistOutcome } from '../store/persist-calls.js'
import { slotOf } from '../store/persist-calls.js'

/** Maximum number of unanswered calls per thread. */
const MAX_WAITING = 4096

/** A server thread's link to the persistence thread. */
export class PersistLink {
  readonly #writes: Int32Array
  readonly #secret: readonly [number, number]
  readonly #post: (call: PersistCall) => void
  readonly #waiting = new Map<number, (outcome: PersistOutcome) => void>()
  #changed: string[] = []
  #lastId = 0

  constructor(
    writes: SharedArrayBuffer,
    secret: readonly [number, number],
    post: (call: PersistCall) => void,
  ) {
    this.#writes = new Int32Array(writes)
    this.#secret = secret
    this.#post = post
  }

  /** Announces that a value is about to be written or removed: values loaded meanwhile are older. */
  changing(key: string): void {
    Atomics.add(this.#writes, slotOf(keyHash(key, this.#secret[0], this.#secret[1])), 1)
  }

  /** Announces a completed write, after `changing`. */
  changed(key: string): void {
    if (this.#changed.push(key) === 1) setImmediate(() => this.#flush())
  }

  load(key: string): Promise<PersistOutcome> {
    return this.#ask({ kind: 'load', id: ++this.#lastId, key })
  }

  /** Removes a value. Call `changing` first. */
  remove(key: string): Promise<PersistOutcome> {
    return this.#ask({ kind: 'remove', id: ++this.#lastId, key })
  }

  /** Purges values. Whatever the answer, purge the memory after it, and then call `purged`. */
  purge(order: PurgeOrder): Promise<PersistOutcome> {
    return this.#ask({ kind: 'purge', id: ++this.#lastId, order })
  }

  purged(): void {
    this.#post({ kind: 'purged' })
  }

  onAnswer({ id, outcome }: PersistAnswer): void {
    const then = this.#waiting.get(id)
    this.#waiting.delete(id)
    then?.(outcome)
  }

  /**
   * Sends a call. Excess loads count as misses. Other calls are few, because each belongs to a waiting
   * request.
   */
  async #ask(call: Extract<PersistCall, { readonly id: number }>): Promise<PersistOutcome> {
    this.#flush()
    if (call.kind === 'load' && this.#waiting.size >= MAX_WAITING) return 'absent'
    return new Promise((resolve) => {
      this.#waiting.set(call.id, resolve)
      this.#post(call)
    })
  }

  #flush(): void {
    if (this.#changed.length === 0) return
    this.#post({ kind: 'changed', keys: this.#changed })
    this.#changed = []
  }
}
