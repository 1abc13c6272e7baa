import type jsonata from 'jsonata'
import { boundFunctions } from './functions.js'
import { compile, linearRegexEngine } from './regex-engine.js'

/** Time limit of an expression, and maximum number of items it creates. */
export interface ExpressionLimits {
  readonly timeoutMs: number
  readonly maxItems: number
}

/** A transformation that failed. */
export class TransformError extends Error {
  /** True if the body is the cause, false if the expression is. */
  readonly isInput: boolean

  constructor(message: string, isInput: boolean) {
    super(message)
    this.isInput = isInput
  }
}

/** Values of an expression's variables by name. */
export type Params = Readonly<Record<string, string>>

/** A compiled expression. Returns its result for a parsed body as JSON text. */
export type Evaluate = (input: unknown, params: Params) => Promise<string>

/** Error codes of the library for mistakes of the author and exceeded limits. */
const AUTHOR_ERRORS: ReadonlySet<string> = new Set([
  'D1011',
  'D1012',
  'D2014',
  'D2015',
  'D3120',
  'D3121',
  'T1005',
  'T1006',
  'T1007',
  'T1008',
])
/** Error codes of errors raised by the expression itself, whose message goes to the client. */
const RAISED_ERRORS: ReadonlySet<string> = new Set(['D3137', 'D3141'])
/** Maximum length of a client message from an expression, in characters. */
const MAX_LENGTH = 256
/** Concurrent evaluations per item. The library counts parallel evaluations as nested ones. */
const STACK_FACTOR = 4

/** Compiles an expression. @throws Error with the problem and its position. */
export async function compileExpression(source: string, limits: ExpressionLimits): Promise<Evaluate> {
  const { default: create } = await import('jsonata')
  const options = {
    timeout: limits.timeoutMs,
    sequence: limits.maxItems,
    stack: limits.maxItems * STACK_FACTOR,
    RegexEngine: linearRegexEngine(limits.timeoutMs) as unknown as RegExpConstructor,
  }
  const expression = parsed(() => create(source, options))
  checkPatterns(expression.ast())
  await boundFunctions(expression, async (name) => {
    const native = (await create(`$${name}`).evaluate({})) as {
      implementation: (...args: unknown[]) => unknown
    }
    return native.implementation
  })
  return async (input, params) => {
    try {
      return JSON.stringify(await expression.evaluate(input, { ...params })) ?? 'null'
    } catch (error) {
      throw transformError(error)
    }
  }
}

function parsed(create: () => jsonata.Expression): jsonata.Expression {
  try {
    return create()
  } catch (cause) {
    const { message, position } = cause as { message?: string; position?: number }
    const at = typeof position === 'number' ? ` at character ${position}` : ''
    throw new Error(`the expression is not JSONata: ${message ?? String(cause)}${at}`, { cause })
  }
}

/** Checks all patterns at compile time, so that none fails only when a request arrives. */
function checkPatterns(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if (node instanceof RegExp) {
    try {
      compile(node)
    } catch (cause) {
      throw new Error(
        `the pattern ${node} of the expression cannot be matched in linear time: rewrite it without look-around and back references`,
        { cause },
      )
    }
    return
  }
  for (const child of Object.values(node)) checkPatterns(child)
}

function transformError(error: unknown): TransformError {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // Not an error of the language: the stack or a string has grown too large.
  if (typeof code !== 'string') return new TransformError('the expression exceeded its limits', false)
  if (RAISED_ERRORS.has(code)) return new TransformError(String(message).slice(0, MAX_LENGTH), true)
  if (AUTHOR_ERRORS.has(code)) return new TransformError(`the expression failed (${code})`, false)
  return new TransformError(`the transformation does not support this body (${code})`, true)
}
