import {
  type Grant,
  type LimitRule,
  MAX_STATE_VALUE_BYTES,
  StateSlow,
  type StateStore,
  StateUnavailable,
  storedKey,
} from '@sluice/core'
import type { StateCall, StateResult } from './state-calls.js'

/**
 * Sends calls to the supervisor. `written` runs when they have left the process. Returns false if the channel
 * is closed.
 */
export type SendCalls = (id: number, calls: readonly StateCall[], written: () => void) => boolean

/** Timeouts in milliseconds: for taking tokens of a limit, and for other calls. */
interface Timeouts {
  readonly takeMs: number
  readonly otherMs: number
}

/**
 * Default timeouts. Tokens have a long one, because a busy supervisor still has the counts. Requests can
 * proceed without anything else.
 */
const TIMEOUTS: Timeouts = { takeMs: 5000, otherMs: 500 }
/** Limits of unanswered calls and their memory in bytes. */
const MAX_CALLS = 10_000
const MAX_BYTES = 8 * 1024 ** 2
const MESSAGE_CALLS = 1000
const MESSAGE_BYTES = 1024 ** 2
/**
 * Maximum number of messages that are unanswered or unread. It bounds the channel's memory when the
 * supervisor is stopped.
 */
const MAX_MESSAGES = 16

interface Waiting {
  readonly call: StateCall
  readonly bytes: number
  readonly dueMono: number
  /** True if the caller no longer waits for the result. */
  isOver: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/**
 * A worker's client of the state store in its supervisor's memory. Calls of one turn are sent in one message.
 */
export class ChannelStore implements StateStore {
  readonly #send: SendCalls
  readonly #timeouts: Timeouts
  /** Calls not sent yet. */
  #queued: Waiting[] = []
  readonly #sent = new Map<number, readonly Waiting[]>()
  #unread = 0
  #calls = 0
  #bytes = 0
  #lastId = 0
  #isFlushing = false
  #clock: NodeJS.Timeout | null = null

  constructor(send: SendCalls, timeouts = TIMEOUTS) {
    this.#send = send
    this.#timeouts = timeouts
  }

  get(key: string): Promise<Uint8Array | null> {
    return this.#ask(['get', storedKey(key)], 0)
  }

  async set(key: string, value: Uint8Array, ttlMs: number, only?: 'absent'): Promise<boolean> {
    if (value.length > MAX_STATE_VALUE_BYTES) throw new RangeError('the value is too large for the store')
    return this.#ask(['set', storedKey(key), new Uint8Array(value), ttlMs, only], value.length)
  }

  delete(key: string): Promise<boolean> {
    return this.#ask(['delete', storedKey(key)], 0)
  }

  add(key: string, amount: number, ttlMs: number): Promise<number> {
    return this.#ask(['add', storedKey(key), amount, ttlMs], 0)
  }

  take(key: string, rule: LimitRule, amount: number): Promise<Grant> {
    return this.#ask(['take', storedKey(key), rule, amount], 0)
  }

  giveBack(key: string, rule: LimitRule, amount: number): Promise<void> {
    return this.#ask(['giveBack', storedKey(key), rule, amount], 0)
  }

  list(prefix: string, most: number): Promise<string[]> {
    return this.#ask(['list', prefix, most], 0)
  }

  deleteAll(prefix: string): Promise<number> {
    return this.#ask(['deleteAll', prefix], 0)
  }

  /** Handles the supervisor's answer to a message. Tokens that arrive too late are returned. */
  onResults(id: number, results: readonly StateResult[]): void {
    const calls = this.#sent.get(id) ?? []
    this.#sent.delete(id)
    calls.forEach((waiting, i) => {
      const result = results[i] ?? { refused: 'no answer' }
      if (waiting.isOver) {
        this.#giveBackLate(waiting.call, result)
        return
      }
      this.#forget(waiting)
      if ('value' in result) waiting.resolve(result.value)
      else waiting.reject(new StateUnavailable(`the supervisor refused: ${result.refused}`))
    })
    this.#flushSoon()
  }

  /** Handles a closed channel: all pending calls fail. */
  close(): void {
    for (const calls of this.#sent.values()) this.#fail(calls, gone)
    this.#sent.clear()
    this.#unread = 0
    this.#flushSoon()
  }

  #giveBackLate(call: StateCall, result: StateResult): void {
    if (call[0] !== 'take' || !('value' in result)) return
    const { granted } = result.value as Grant
    // Lost if the supervisor is late again.
    if (granted > 0) this.#ask(['giveBack', call[1], call[2], granted], 0).catch(() => {})
  }

  #ask<T>(call: StateCall, valueBytes: number): Promise<T> {
    const bytes = 2 * call[1].length + valueBytes
    if (this.#calls >= MAX_CALLS || this.#bytes + bytes > MAX_BYTES)
      return Promise.reject(new StateSlow('too many pending calls to the supervisor'))
    this.#calls++
    this.#bytes += bytes
    return new Promise<T>((resolve, reject) => {
      const { takeMs, otherMs } = this.#timeouts
      const dueMono = performance.now() + (call[0] === 'take' ? takeMs : otherMs)
      const settle = { resolve: resolve as (value: unknown) => void, reject }
      this.#queued.push({ call, bytes, dueMono, isOver: false, ...settle })
      this.#clock ??= this.#startClock()
      this.#flushSoon()
    })
  }

  #flushSoon(): void {
    if (this.#isFlushing || this.#queued.length === 0) return
    this.#isFlushing = true
    setImmediate(() => {
      this.#isFlushing = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#queued.length > 0 && this.#sent.size < MAX_MESSAGES && this.#unread < MAX_MESSAGES) {
      const calls = this.#queued.splice(0, messageLength(this.#queued))
      const id = ++this.#lastId
      this.#sent.set(id, calls)
      this.#unread++
      const written = (): void => {
        this.#unread--
        this.#flushSoon()
      }
      if (
        this.#send(
          id,
          calls.map(({ call }) => call),
          written,
        )
      )
        continue
      this.#unread--
      this.#sent.delete(id)
      this.#fail(calls, gone)
    }
  }

  /** Starts one coarse timer for all calls, which is cheaper than one timer per call. */
  #startClock(): NodeJS.Timeout {
    // Runs after messages that arrived while this process was busy: in that case the supervisor was not late.
    return setTimeout(() => setImmediate(() => this.#onClock()), this.#timeouts.otherMs / 4)
  }

  #onClock(): void {
    const nowMono = performance.now()
    const isLate = ({ dueMono }: Waiting): boolean => dueMono <= nowMono
    for (const calls of this.#sent.values()) this.#fail(calls.filter(isLate), slow)
    const late = this.#queued.filter(isLate)
    this.#queued = this.#queued.filter((waiting) => !isLate(waiting))
    this.#fail(late, slow)
    this.#clock = this.#calls > 0 ? this.#startClock() : null
  }

  #fail(calls: readonly Waiting[], error: () => Error): void {
    for (const waiting of calls) {
      if (waiting.isOver) continue
      waiting.isOver = true
      this.#forget(waiting)
      waiting.reject(error())
    }
  }

  #forget({ bytes }: Waiting): void {
    this.#calls--
    this.#bytes -= bytes
  }
}

const gone = (): Error => new StateUnavailable('the supervisor is not running')
const slow = (): Error => new StateSlow('the supervisor did not answer in time')

function messageLength(calls: readonly Waiting[]): number {
  let bytes = 0
  let length = 0
  while (length < Math.min(calls.length, MESSAGE_CALLS) && (length === 0 || bytes < MESSAGE_BYTES))
    bytes += calls[length++]!.bytes
  return length
}
