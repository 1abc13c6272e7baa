import type { Exchange } from './exchange.js'

/** What an expression gives for an exchange; null: what it asks for is not there. */
export type ExpressionValue = string | number | boolean | null

/** An expression of the condition language that gives a value: the key of a limit, what a request costs. */
export interface Expression {
  /** It can only be read once the response head is there. */
  readonly readsResponse: boolean
  /** It can only be read once the whole request body is there. */
  readonly readsBody: boolean
  /**
   * @throws Error when the values at hand make no sense to it; `isOutOfRange` is true if a number is too large.
   * @throws UnreadableBody when the body is not of the kind that it asks for.
   */
  value(x: Exchange): ExpressionValue
}
