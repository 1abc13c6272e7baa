import type { Exchange } from './exchange.js'

/** Value of an expression, or null if the value it refers to is missing. */
export type ExpressionValue = string | number | boolean | null

/**
 * Compiled expression of the condition language, used for example as the key of a limit or the cost of a
 * request.
 */
export interface Expression {
  /** True if the expression needs the response head. */
  readonly readsResponse: boolean
  /** True if the expression needs the complete request body. */
  readonly readsBody: boolean
  /**
   * Evaluates the expression.
   * @throws Error if it cannot be evaluated with the values of this exchange. `isOutOfRange` is true if a
   * number is too large.
   * @throws UnreadableBody if the body is not valid JSON or XML, as the expression requires.
   */
  value(x: Exchange): ExpressionValue
}
