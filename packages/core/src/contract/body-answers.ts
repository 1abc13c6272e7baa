import type { ErrorCode } from './errors.js'
import { UnreadableBody } from './unreadable-body.js'

/** What a path finds in a body; null: nothing. */
export type BodyValue = string | number | boolean | null

/** What a condition asks a body. */
export interface BodyQuestion {
  readonly kind: 'json' | 'xml'
  readonly path: string
  readonly names: Readonly<Record<string, string>>
}

/** What a body says to a question, or why it says nothing. Can be cloned. */
export type BodyAnswer =
  | { readonly value: BodyValue }
  | { readonly code: ErrorCode; readonly message: string; readonly isAmbiguous?: boolean }

/** What a large body has answered on a thread; holds for this body only. */
export class BodyAnswers {
  readonly body: Uint8Array
  readonly #answers = new Map<BodyQuestion, BodyAnswer>()

  constructor(body: Uint8Array) {
    this.body = body
  }

  /** @param answers one for each question. */
  add(questions: readonly BodyQuestion[], answers: readonly BodyAnswer[]): void {
    for (const [i, question] of questions.entries()) this.#answers.set(question, answers[i]!)
  }

  has(question: BodyQuestion): boolean {
    return this.#answers.has(question)
  }

  /** Undefined: it was not asked. @throws UnreadableBody when the body is not of the kind asked for. */
  to(question: BodyQuestion): BodyValue | undefined {
    const answer = this.#answers.get(question)
    if (answer === undefined) return undefined
    if ('code' in answer) throw new UnreadableBody(answer.code, answer.message, answer.isAmbiguous)
    return answer.value
  }
}
