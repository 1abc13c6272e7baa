import { ANSWERS_PREFIX, type HttpAnswer, MAX_STATE_VALUE_BYTES, type StateStore } from '@sluice/core'
import { isJsonObject, memberOf } from '../engines/json/strict-json.js'

/** An answer that another worker, or this one before, has got. */
export interface SharedAnswer {
  readonly answer: HttpAnswer
  /** Until it ends. */
  readonly leftMs: number
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
  readonly #onDown: (error: string) => void

  /** @param space what the answers belong to; others have other keys. */
  constructor(store: StateStore, space: string, onDown: (error: string) => void) {
    this.#store = store
    this.#space = `${ANSWERS_PREFIX}${space}`
    this.#onDown = onDown
  }

  /** Null: there is none that may be used. @param mostMs how long one may be used at most. */
  async find(key: string, mostMs: number): Promise<SharedAnswer | null> {
    try {
      const bytes = await this.#store.get(`${this.#space}:${key}`)
      const found = bytes === null ? null : parse(bytes)
      if (found === null) return null
      // The clock of another replica may be ahead.
      const leftMs = Math.min(found.until - Date.now(), mostMs)
      return leftMs > 0 ? { answer: found.answer, leftMs } : null
    } catch (error) {
      this.#noteDown(error)
      return null
    }
  }

  /** Nobody waits for it. One that is too large for the store is not kept there. */
  keep(key: string, answer: HttpAnswer, ttlMs: number): void {
    const { status, headers, body } = answer
    const head = Buffer.from(`${JSON.stringify({ until: Date.now() + ttlMs, status, headers })}\n`)
    if (head.length + body.length > MAX_STATE_VALUE_BYTES) return
    const kept = this.#store.set(`${this.#space}:${key}`, Buffer.concat([head, body]), Math.ceil(ttlMs))
    kept.catch((error: unknown) => this.#noteDown(error))
  }

  #noteDown(error: unknown): void {
    this.#onDown(error instanceof Error ? error.message : String(error))
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
