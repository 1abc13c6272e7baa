import {
  ANSWERS_PREFIX,
  type HttpAnswer,
  MAX_STATE_VALUE_BYTES,
  type StateStore,
  StateUnavailable,
} from '@sluice/core'
import { isJsonObject, memberOf } from '../json/strict-json.js'
import type { Found } from './call-cache.js'
import { MARGIN_MS, singleFlight } from './single-flight.js'

/** An answer that this or another worker has stored. */
interface SharedAnswer {
  readonly answer: HttpAnswer
  /** Remaining lifetime in milliseconds. */
  readonly leftMs: number
}

/** Options for `SharedAnswerCache`. */
export interface SharedAnswerCacheOptions {
  /** Name of the key space. Different spaces never share answers. */
  readonly space: string
  /** Time limit of a call in milliseconds. */
  readonly timeoutMs: number
  /** Called with the error if the store is unavailable. */
  readonly onDown: (error: string) => void
}

/** Functions and limits of one lookup. */
export interface SharedCall<T> {
  /** Maximum lifetime of an answer in milliseconds. */
  readonly maxMs: number
  /** Calls the server. Rejects with any Error. */
  ask(): Promise<Asked<T>>
  /**
   * Interprets a stored answer with its remaining lifetime.
   * @throws Error for an unusable answer; then the server is called.
   */
  read(answer: HttpAnswer, leftMs: number): Found<T>
}

/** An answer and its interpretation. */
export interface Asked<T> {
  readonly answer: HttpAnswer
  readonly found: Found<T>
}

/** Separates the head of a stored answer from the body. JSON contains this byte only inside strings, escaped. */
const LINE_END = 10

/**
 * Answers in a store that workers or replicas share, behind each worker's own cache. If the store is unavailable, it
 * finds nothing and calls the server. Format of an entry:
 *
 *     { until, status, headers } LF body
 */
export class SharedAnswerCache {
  readonly #store: StateStore
  readonly #space: string
  readonly #waitMs: number
  readonly #onDown: (error: string) => void

  constructor(store: StateStore, { space, timeoutMs, onDown }: SharedAnswerCacheOptions) {
    this.#store = store
    this.#space = `${ANSWERS_PREFIX}${space}`
    this.#waitMs = timeoutMs + MARGIN_MS
    this.#onDown = onDown
  }

  /** Returns the stored answer, or calls the server once for all workers. Rejects like `ask`. */
  get<T>(key: string, { maxMs, ask, read }: SharedCall<T>): Promise<Found<T>> {
    const name = `${this.#space}:${key}`
    let isKept = true
    return singleFlight({
      ...{ store: this.#store, key: name, waitMs: this.#waitMs },
      isKept: () => isKept,
      find: async () => readable(await this.#find(name, maxMs), read),
      ask: async () => {
        const { answer, found } = await ask()
        isKept = found.ttlMs > 0 && (await this.#keep(name, answer, found.ttlMs))
        return found
      },
    })
  }

  /** Returns a usable stored answer, or null. */
  async #find(name: string, maxMs: number): Promise<SharedAnswer | null> {
    try {
      const bytes = await this.#store.get(name)
      const found = bytes === null ? null : parse(bytes)
      if (found === null) return null
      // The clock of another replica may be ahead.
      const leftMs = Math.min(found.until - Date.now(), maxMs)
      return leftMs > 0 ? { answer: found.answer, leftMs } : null
    } catch (error) {
      throw this.#down(error)
    }
  }

  /** Stores an answer. Returns false if it is too large or the store is unavailable. */
  async #keep(name: string, { status, headers, body }: HttpAnswer, ttlMs: number): Promise<boolean> {
    const head = Buffer.from(`${JSON.stringify({ until: Date.now() + ttlMs, status, headers })}\n`)
    if (head.length + body.length > MAX_STATE_VALUE_BYTES) return false
    try {
      return await this.#store.set(name, Buffer.concat([head, body]), Math.ceil(ttlMs))
    } catch (error) {
      this.#down(error)
      return false
    }
  }

  #down(error: unknown): StateUnavailable {
    const message = error instanceof Error ? error.message : String(error)
    this.#onDown(message)
    return new StateUnavailable(message)
  }
}

/** Interprets a stored answer. Returns null if there is none or it is unusable. */
function readable<T>(shared: SharedAnswer | null, read: SharedCall<T>['read']): Found<T> | null {
  if (shared === null) return null
  try {
    return { ...read(shared.answer, shared.leftMs), ttlMs: shared.leftMs }
  } catch {
    return null
  }
}

/** Parses an entry of the store. Returns null if no gateway has written it. */
function parse(bytes: Uint8Array): { readonly until: number; readonly answer: HttpAnswer } | null {
  const end = bytes.indexOf(LINE_END)
  const head = end < 0 ? null : jsonOf(Buffer.from(bytes.subarray(0, end)).toString())
  if (!isJsonObject(head)) return null
  const [until, status, headers] = [
    memberOf(head, 'until'),
    memberOf(head, 'status'),
    memberOf(head, 'headers'),
  ]
  if (typeof until !== 'number' || typeof status !== 'number' || !(status >= 200 && status < 600)) return null
  if (
    !Array.isArray(headers) ||
    headers.length % 2 !== 0 ||
    !headers.every((text) => typeof text === 'string')
  )
    return null
  return { until, answer: { status, headers, body: bytes.subarray(end + 1) } }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
