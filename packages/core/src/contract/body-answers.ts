import type { ErrorCode } from './errors.js'
import { UnreadableBody } from './policy-failure.js'

/** Value at a path in a body, or null if the path matches nothing. */
export type BodyValue = string | number | boolean | null

/** Query for one value in a body, as conditions make with `req.body.json(path)`. */
export interface BodyQuery {
  readonly kind: 'json' | 'xml'
  readonly path: string
  readonly names: Readonly<Record<string, string>>
}

/** @deprecated Use `BodyQuery`. */
export type BodyQuestion = BodyQuery

/** Result of a body query: the value, or the reason why the body could not be read. Structured-cloneable. */
export type BodyAnswer =
  | { readonly value: BodyValue }
  | { readonly code: ErrorCode; readonly message: string; readonly isAmbiguous?: boolean }

/** Results of the queries that a worker thread ran on one large body. They are valid for this body only. */
export class BodyAnswers {
  readonly body: Uint8Array
  readonly #answers = new Map<BodyQuery, BodyAnswer>()

  constructor(body: Uint8Array) {
    this.body = body
  }

  /** Adds the results of several queries. @param answers One result per query, in the same order. */
  add(queries: readonly BodyQuery[], answers: readonly BodyAnswer[]): void {
    for (const [i, query] of queries.entries()) this.#answers.set(query, answers[i]!)
  }

  has(query: BodyQuery): boolean {
    return this.#answers.has(query)
  }

  /**
   * Returns the result of a query, or undefined if the query was not run.
   * @throws UnreadableBody if the body is not valid JSON or XML, as the query requires.
   */
  to(query: BodyQuery): BodyValue | undefined {
    const answer = this.#answers.get(query)
    if (answer === undefined) return undefined
    if ('code' in answer) throw new UnreadableBody(answer.code, answer.message, answer.isAmbiguous)
    return answer.value
  }
}
