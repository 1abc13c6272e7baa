import type { PurgeOrder } from '../cache-store.js'
import { keyHash } from '../key-hash.js'
import type { PersistAnswer, PersistCall, PersistMemory, PersistOutcome } from './persist-calls.js'
import { slotOf } from './persist-calls.js'

/** Calls of a thread that wait for their answer. */
const MAX_WAITING = 4096

/** What a thread of the server knows of the one that keeps values in Valkey. */
export class PersistLink {
  readonly #writes: Int32Array
  readonly #secret: readonly [number, number]
  readonly #post: (call: PersistCall) => void
  readonly #waiting = new Map<number, (outcome: PersistOutcome) => void>()
  #changed: string[] = []
  #lastId = 0

  constructor(memory: PersistMemory, secret: readonly [number, number], post: (call: PersistCall) => void) {
    this.#writes = new Int32Array(memory.writes)
    this.#secret = secret
    this.#post = post
  }

  /** A value is about to be put or removed: what is loaded meanwhile is older. */
  changing(key: string): void {
    Atomics.add(this.#writes, slotOf(keyHash(key, this.#secret[0], this.#secret[1])), 1)
  }

  /** It has been put, after `changing`. */
  changed(key: string): void {
    if (this.#changed.push(key) === 1) setImmediate(() => this.#tell())
  }

  load(key: string, then: (outcome: PersistOutcome) => void): void {
    this.#ask((id) => ({ kind: 'load', id, key }), then)
  }

  /** After `changing`. */
  remove(key: string, then: (outcome: PersistOutcome) => void): void {
    this.#ask((id) => ({ kind: 'remove', id, key }), then)
  }

  /** The memory is purged behind the answer, whatever it is; `purged` says that it has been. */
  purge(order: PurgeOrder, then: (outcome: PersistOutcome) => void): void {
    this.#ask((id) => ({ kind: 'purge', id, order }), then)
  }

  purged(): void {
    this.#post({ kind: 'purged' })
  }

  hear({ id, outcome }: PersistAnswer): void {
    const then = this.#waiting.get(id)
    this.#waiting.delete(id)
    then?.(outcome)
  }

  /** Too many loads are misses; the others are few, because each is asked for by a request that waits. */
  #ask(call: (id: number) => PersistCall, then: (outcome: PersistOutcome) => void): void {
    this.#tell()
    const id = ++this.#lastId
    const whole = call(id)
    if (whole.kind === 'load' && this.#waiting.size >= MAX_WAITING) {
      then('absent')
      return
    }
    this.#waiting.set(id, then)
    this.#post(whole)
  }

  #tell(): void {
    if (this.#changed.length === 0) return
    this.#post({ kind: 'changed', keys: this.#changed })
    this.#changed = []
  }
}
