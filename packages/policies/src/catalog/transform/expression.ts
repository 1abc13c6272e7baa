import type jsonata from 'jsonata'
import { boundFunctions } from './functions.js'
import { compile, linearRegexEngine } from './regex-engine.js'

/** How long an expression may run, and how much it may make. */
export interface ExpressionLimits {
  readonly timeoutMs: number
  readonly maxItems: number
}

/** A transformation that could not be done. */
export class TransformError extends Error {
  /** What the body says is the reason; otherwise the expression is. */
  readonly isInput: boolean

  constructor(message: string, isInput: boolean) {
    super(message)
    this.isInput = isInput
  }
}

/** Values of an expression's variables, by their names. */
export type Params = Readonly<Record<string, string>>

/** A compiled expression: the JSON text of what it makes of a parsed body. */
export type Evaluate = (input: unknown, params: Params) => Promise<string>

/** Codes of the library for errors that are the author's, or that mean a bound. */
const AUTHORS: ReadonlySet<string> = new Set([
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
/** Codes of what the expression itself raised, with a text for the client. */
const RAISED: ReadonlySet<string> = new Set(['D3137', 'D3141'])
/** Longest text of an expression that a client gets, in characters. */
const MAX_LENGTH = 256
/** Evaluations that one item may have under way at once: the library counts parallel ones as nested. */
const STACK_FACTOR = 4

/** @throws Error that says what is wrong with the expression, and where. */
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

/** Looks for patterns wherever they stand, so that none fails only when a request comes. */
function checkPatterns(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if (node instanceof RegExp) {
    try {
      compile(node)
    } catch (cause) {
      throw new Error(
        `the pattern ${node} of the expression cannot be matched in linear time; write it without look-around and back references`,
        { cause },
      )
    }
    return
  }
  for (const child of Object.values(node)) checkPatterns(child)
}

function transformError(error: unknown): TransformError {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // What is no error of the language: the stack or a text has grown too large.
  if (typeof code !== 'string') return new TransformError('the expression went beyond its bounds', false)
  if (RAISED.has(code)) return new TransformError(String(message).slice(0, MAX_LENGTH), true)
  if (AUTHORS.has(code)) return new TransformError(`the expression failed (${code})`, false)
  return new TransformError(`the body is not what the transformation expects (${code})`, true)
}
