import {
  ANSWERS_PREFIX,
  type HttpAnswer,
  MAX_STATE_VALUE_BYTES,
  type StateStore,
  StateUnavailable,
} from '@sluice/core'
import { isJsonObject, memberOf } from '../engines/json/strict-json.js'
import { askOnce, MARGIN_MS } from './ask-once.js'
import type { Found } from './call-cache.js'

/** An answer that another worker, or this one before, has got. */
interface SharedAnswer {
  readonly answer: HttpAnswer
  /** Until it ends. */
  readonly leftMs: number
}

export interface AnswerTierOptions {
  /** What the answers belong to; others have other keys. */
  readonly space: string
  /** How long a call may take. */
  readonly timeoutMs: number
  /** Hears why the store has no answer. */
  readonly onDown: (error: string) => void
}

/** How an answer is asked for. */
export interface SharedCall<T> {
  /** How long one may be used at most. */
  readonly mostMs: number
  /** Calls the other server. Rejects with any Error. */
  ask(): Promise<Asked<T>>
  /** What an answer says that another worker has got, and that may be used so long. @throws Error when it says nothing: then the server is asked. */
  read(answer: HttpAnswer, leftMs: number): Found<T>
}

/** An answer, and what it says. */
export interface Asked<T> {
  readonly answer: HttpAnswer
  readonly found: Found<T>
}

/** Ends the head of a stored answer; JSON has no such byte outside of texts. */
const LINE_END = 10

/**
 * Answers in a store that workers or replicas share, behind those that a worker keeps itself. While the store is away
 * nothing is found in it, and the other server is asked.
 *
 *     { until, status, headers } LF body
 */
export class AnswerTier {
  readonly #store: StateStore
  readonly #space: string
  readonly #waitMs: number
  readonly #onDown: (error: string) => void

  constructor(store: StateStore, { space, timeoutMs, onDown }: AnswerTierOptions) {
    this.#store = store
    this.#space = `${ANSWERS_PREFIX}${space}`
    this.#waitMs = timeoutMs + MARGIN_MS
    this.#onDown = onDown
  }

  /** What the answer says that is kept here, or that one worker asks for in the place of all. Rejects as `ask` does. */
  get<T>(key: string, { mostMs, ask, read }: SharedCall<T>): Promise<Found<T>> {
    const name = `${this.#space}:${key}`
    let isKept = true
    return askOnce({
      ...{ store: this.#store, key: name, waitMs: this.#waitMs },
      isKept: () => isKept,
      find: async () => readable(await this.#find(name, mostMs), read),
      ask: async () => {
        const { answer, found } = await ask()
        isKept = found.ttlMs > 0 && (await this.#keep(name, answer, found.ttlMs))
        return found
      },
    })
  }

  /** Null: there is none that may be used. */
  async #find(name: string, mostMs: number): Promise<SharedAnswer | null> {
    try {
      const bytes = await this.#store.get(name)
      const found = bytes === null ? null : parse(bytes)
      if (found === null) return null
      // The clock of another replica may be ahead.
      const leftMs = Math.min(found.until - Date.now(), mostMs)
      return leftMs > 0 ? { answer: found.answer, leftMs } : null
    } catch (error) {
      throw this.#down(error)
    }
  }

  /** One that is too large for the store is not kept there. */
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

/** Null: there is no answer, or it says nothing. */
function readable<T>(shared: SharedAnswer | null, read: SharedCall<T>['read']): Found<T> | null {
  if (shared === null) return null
  try {
    return { ...read(shared.answer, shared.leftMs), ttlMs: shared.leftMs }
  } catch {
    return null
  }
}

/** Null: it is nothing that a gateway has written. */
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
