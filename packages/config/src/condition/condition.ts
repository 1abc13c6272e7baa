import type { BodyQuery, Exchange, Expression, ExpressionValue } from '@sluice/core'
import { asTest, ConditionCompiler, type ConditionContext, readsBody, readsResponse } from './compiler.js'
import { type ConditionScope, childrenOf, isIssue, type Node, parseCondition } from './parser.js'
import type { ConditionIssue } from './syntax-remedy.js'
import { NO_EXCHANGE, type Value } from './value.js'

/** Parts of the exchange that a condition reads. */
export interface ConditionNeeds {
  /** True if the condition can only be evaluated after the response head. */
  readonly response: boolean
  /** True if the condition can only be evaluated after the whole request body. */
  readonly body: boolean
}

/** A compiled condition. */
export interface Condition {
  readonly text: string
  /** The result if it does not depend on the request, otherwise null. */
  readonly constant: boolean | null
  readonly needs: ConditionNeeds
  readonly questions: readonly BodyQuery[]
  /**
   * Evaluates the condition.
   * @throws ConditionError if it cannot process the values
   * @throws UnreadableBody if the body does not have the queried format
   */
  test(x: Exchange): boolean
}

/** Result of checking the text of a condition. */
export type ConditionCheck =
  | { readonly ok: true; readonly needs: ConditionNeeds }
  | ({ readonly ok: false } & ConditionIssue)

/**
 * Parses, type-checks and compiles a condition, and reports what is wrong with it. Never throws.
 * @param context default: paths into bodies are not checked
 */
export function checkCondition(
  text: string,
  scope: ConditionScope,
  context: ConditionContext = { bodies: null },
): ConditionCheck {
  const node = parseCondition(text, scope)
  if (isIssue(node)) return { ok: false, ...node }
  try {
    return { ok: true, needs: build(text, node, { scope, context }).needs }
  } catch (error) {
    const remedy = 'see docs/guides/conditions.md for the syntax'
    return { ok: false, message: (error as Error).message, offset: 0, remedy }
  }
}

/**
 * Compiles a condition to closures over the exchange.
 * @throws Error for a text that `checkCondition` rejects
 */
export function compileCondition(
  text: string,
  scope: ConditionScope,
  context: ConditionContext = {},
): Condition {
  const node = parseCondition(text, scope)
  if (isIssue(node)) throw new Error(`${node.message} at ${node.offset + 1} of the condition '${text}'`)
  return build(text, node, { scope, context })
}

/** Compiles an expression that returns a value. @throws Error that describes the problem */
export function compileExpression(text: string, context: ConditionContext = {}): Expression {
  const node = parseCondition(text, 'value')
  if (isIssue(node))
    throw new Error(`${node.message} at ${node.offset + 1} of the expression '${text}'; ${node.remedy}`)
  const code = new ConditionCompiler('value', context).compile(node)
  return {
    readsResponse: readsResponse(node, childrenOf),
    readsBody: readsBody(node, childrenOf),
    value: (x) => scalarOf(code.run(x)),
  }
}

/**
 * Returns the value of an expression. Lists and inexact integers are errors rather than null: used as a cache
 * key, they would return one caller's entry to another.
 * @throws RangeError
 */
function scalarOf(value: Value): ExpressionValue {
  if (value === null) return null
  if (typeof value === 'object') throw new RangeError('the expression returned a list or an object')
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError('the expression returned an integer that cannot be represented exactly')
  return value
}

function build(
  text: string,
  node: Node,
  { scope, context }: { readonly scope: ConditionScope; readonly context: ConditionContext },
): Condition {
  const compiler = new ConditionCompiler(scope, context)
  const code = compiler.compile(node)
  return {
    text,
    constant: code.isFixed ? code.run(NO_EXCHANGE) === true : null,
    needs: { response: readsResponse(node, childrenOf), body: readsBody(node, childrenOf) },
    questions: compiler.questions,
    test: asTest(code),
  }
}
