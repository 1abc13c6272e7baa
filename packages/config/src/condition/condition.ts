import type { BodyQuery, Exchange, Expression, ExpressionValue } from '@sluice/core'
import { asTest, ConditionCompiler, type ConditionContext, readsBody, readsResponse } from './compiler.js'
import {
  type ConditionFlaw,
  type ConditionScope,
  childrenOf,
  isFlaw,
  type Node,
  parseCondition,
} from './parser.js'
import { NOBODY, type Value } from './value.js'

/** What of an exchange a condition looks at. */
export interface ConditionNeeds {
  /** It can only be decided once the response head is there. */
  readonly response: boolean
  /** It can only be decided once the whole request body is there. */
  readonly body: boolean
}

/** A condition ready to be asked. */
export interface Condition {
  readonly text: string
  /** The answer, when it does not depend on the request; null when it does. */
  readonly constant: boolean | null
  readonly needs: ConditionNeeds
  /** What it asks request bodies. */
  readonly questions: readonly BodyQuery[]
  /**
   * @throws ConditionError when the values at hand make no sense to it.
   * @throws UnreadableBody when the body is not of the kind that it asks for.
   */
  test(x: Exchange): boolean
}

/** The verdict on a condition's text. */
export type ConditionCheck =
  | { readonly ok: true; readonly needs: ConditionNeeds }
  | ({ readonly ok: false } & ConditionFlaw)

/**
 * Parses, type-checks and compiles a condition, and says what is wrong with it. Never throws.
 * @param context default: paths into bodies are not looked at.
 */
export function checkCondition(
  text: string,
  scope: ConditionScope,
  context: ConditionContext = { bodies: null },
): ConditionCheck {
  const node = parseCondition(text, scope)
  if (isFlaw(node)) return { ok: false, ...node }
  try {
    return { ok: true, needs: build(text, node, { scope, context }).needs }
  } catch (error) {
    const remedy = 'see docs/guides/conditions.md for what can be written'
    return { ok: false, message: (error as Error).message, offset: 0, remedy }
  }
}

/**
 * Compiles a condition to closures over the exchange.
 * @throws Error for a text that `checkCondition` refuses.
 */
export function compileCondition(
  text: string,
  scope: ConditionScope,
  context: ConditionContext = {},
): Condition {
  const node = parseCondition(text, scope)
  if (isFlaw(node)) throw new Error(`${node.message} at ${node.offset + 1} of the condition '${text}'`)
  return build(text, node, { scope, context })
}

/**
 * Compiles an expression that gives a value.
 * @throws Error that says what is wrong with it.
 */
export function compileExpression(text: string, context: ConditionContext = {}): Expression {
  const node = parseCondition(text, 'value')
  if (isFlaw(node))
    throw new Error(`${node.message} at ${node.offset + 1} of the expression '${text}'; ${node.remedy}`)
  const code = new ConditionCompiler('value', context).compile(node)
  return {
    readsResponse: readsResponse(node, childrenOf),
    readsBody: readsBody(node, childrenOf),
    value: (x) => scalarOf(code.run(x)),
  }
}

/**
 * Bodies may answer lists, and whole numbers beyond 2^53, of which reading makes two one. Neither is like nothing: what is
 * kept for one would be found for another.
 * @throws RangeError
 */
function scalarOf(value: Value): ExpressionValue {
  if (value === null) return null
  if (typeof value === 'object') throw new RangeError('the expression has given a list or an object')
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError('the expression has given a number that has lost digits')
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
    constant: code.isFixed ? code.run(NOBODY) === true : null,
    needs: { response: readsResponse(node, childrenOf), body: readsBody(node, childrenOf) },
    questions: compiler.questions,
    test: asTest(code),
  }
}
