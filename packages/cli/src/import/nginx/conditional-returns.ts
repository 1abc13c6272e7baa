import { patternOf } from '../patterns.js'
import type { Directive } from './parse.js'
import type { Scope } from './scope.js'
import { expressionOf } from './values.js'

/** An answer that nginx gives under a condition. */
interface ConditionalReturn {
  /** CEL condition. */
  readonly when: string
  /** The `return`. */
  readonly directive: Directive
  readonly scope: Scope
}

const TEST = /^\(\s*(\$\w+)\s*(?:(!?=|!?~\*?)\s*([\s\S]*?)\s*)?\)$/

/** Returns the answers of `if (…) { return … }` in a block. All other `if` blocks stay unmapped. */
export function conditionalReturns(scope: Scope): ConditionalReturn[] {
  return scope.directives.flatMap((one) => {
    const parsed = one.name === 'if' ? conditionalReturn(one, scope) : null
    if (parsed !== null) for (const mapped of [one, parsed.directive]) scope.use.mapped.add(mapped)
    return parsed === null ? [] : [parsed]
  })
}

/** Returns the answer of an `if` block, or null if it is not mapped. */
function conditionalReturn({ args, block }: Directive, scope: Scope): ConditionalReturn | null {
  const [directive] = block ?? []
  if (directive?.name !== 'return' || block?.length !== 1) return null
  const [, variable = '', sign, value = ''] = TEST.exec(args.join(' ')) ?? []
  const expression = expressionOf(variable)
  if (expression === null || /^req\.path$/.test(expression) !== /^\$(document_)?uri$/.test(variable))
    return null
  const when = conditionOf(expression, sign, value)
  return when === null ? null : { when, directive, scope: scope.inner(block ?? []) }
}

function conditionOf(expression: string, sign: string | undefined, value: string): string | null {
  if (sign === undefined) return `size(${expression}) > 0 && ${expression} != "0"`
  if (value.includes('$') && !sign.includes('~')) return null
  if (value === '') return `size(${expression}) ${sign === '=' ? '==' : '>'} 0`
  if (!sign.includes('~')) return `${expression} ${sign === '=' ? '==' : '!='} ${JSON.stringify(value)}`
  const pattern = patternOf(value, sign.endsWith('*'))
  if (pattern === null) return null
  const test = `${expression}.matches(${JSON.stringify(pattern)})`
  return sign.startsWith('!') ? `!(${test})` : test
}
