import {
  ANSWERS_PREFIX,
  type CompileEnv,
  type HttpAnswer,
  joinJsonHead,
  type StateScope,
  type StateStore,
  splitJsonHead,
} from '@sluice/core'
import type { CallCache, Found } from './call-cache.js'
import { MARGIN_MS, singleFlight } from './single-flight.js'

/** A call to another server, and the interpretation of its answer. */
export interface AnswerCall<T> {
  /** Calls the server. Rejects with any Error. */
  ask(): Promise<Asked<T>>
  /**
   * Interprets an answer that another worker has stored, with its remaining lifetime in milliseconds.
   * @throws Error for an unusable answer; then the server is called.
   */
  read(answer: HttpAnswer, leftMs: number): Found<T>
}

/** An answer and its interpretation. */
export interface Asked<T> {
  readonly answer: HttpAnswer
  readonly found: Found<T>
}

/**
 * Answers of another server in two tiers:
 *
 *     memory of this worker ─► store of the gateway or cluster, unless the scope is `worker` ─► server
 */
export class AnswerCache<T extends object> {
  readonly #memory: CallCache<T>
  readonly #tier: AnswerTier | null

  constructor(memory: CallCache<T>, tier: AnswerTier | null) {
    this.#memory = memory
    this.#tier = tier
  }

  /** Returns the value, or a promise if it is not in memory. Rejects like `ask`. */
  get(key: string, call: AnswerCall<T>): T | Promise<T> {
    const tier = this.#tier
    return this.#memory.get(key, async () => (tier === null ? (await call.ask()).found : tier.get(key, call)))
  }
}

interface AnswerTierOptions {
  readonly scope: StateScope
  /** Name of the key space. Different spaces never share answers. */
  readonly space: string
  /** Time limit of a call in milliseconds. */
  readonly timeoutMs: number
  /** Maximum lifetime of an answer in milliseconds. The clock of another replica may be ahead. */
  readonly maxMs: number
  /** Event to report if the store is unavailable. */
  readonly downEvent: string
}

/**
 * Answers in a store that workers or replicas share. One of them calls the server for all. If the store is
 * unavailable, each one calls it.
 */
export class AnswerTier {
  readonly #options: AnswerTierOptions
  readonly #store: StateStore
  readonly #onDown: (error: string) => void

  constructor(env: Pick<CompileEnv, 'state' | 'report'>, options: AnswerTierOptions) {
    this.#options = options
    this.#store = env.state.store(options.scope)
    this.#onDown = (error) => env.report(options.downEvent, { error })
  }

  /** Returns the stored answer, or calls the server once for all workers. Rejects like `ask`. */
  get<T>(key: string, { ask, read }: AnswerCall<T>): Promise<Found<T>> {
    const { space, timeoutMs, maxMs } = this.#options
    return singleFlight({
      ...{ store: this.#store, key: `${ANSWERS_PREFIX}${space}:${key}`, onDown: this.#onDown },
      waitMs: timeoutMs + MARGIN_MS,
      read: (bytes) => {
        const { until, answer } = decode(bytes)
        const leftMs = Math.min(until - Date.now(), maxMs)
        return leftMs > 0 ? { ...read(answer, leftMs), ttlMs: leftMs } : null
      },
      ask: async () => {
        const { answer, found } = await ask()
        const { ttlMs } = found
        return { value: found, bytes: ttlMs > 0 ? encode(answer, ttlMs) : null, ttlMs }
      },
    })
  }
}

/** Encodes an answer: `{ until, status, headers }` and the body. */
function encode({ status, headers, body }: HttpAnswer, ttlMs: number): Buffer {
  return joinJsonHead({ until: Date.now() + ttlMs, status, headers }, body)
}

/** Decodes a stored answer. @throws Error if no gateway has written it. */
function decode(bytes: Uint8Array): { readonly until: number; readonly answer: HttpAnswer } {
  const { head, body } = splitJsonHead(bytes) ?? { head: {}, body: bytes }
  const { until, status, headers } = head
  const isFinal = typeof status === 'number' && status >= 200 && status < 600
  const isList = Array.isArray(headers) && headers.length % 2 === 0
  if (typeof until !== 'number' || !isFinal || !isList || !headers.every((text) => typeof text === 'string'))
    throw new Error('not a stored answer')
  return { until, answer: { status, headers, body } }
}
