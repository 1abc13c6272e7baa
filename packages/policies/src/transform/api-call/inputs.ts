import type { CompileEnv, Exchange, Expression, ExpressionValue } from '@sluice/core'
import type { OwnVariables, Render } from '../../shared/options/template.js'

/** Named values for the templates of calls. */
export interface Inputs {
  /** Rendering functions by variable name (`inputs.NAME`). */
  readonly variables: OwnVariables
  /** Expressions as written in the configuration. */
  readonly texts: Readonly<Record<string, string>>
  readonly readsBody: boolean
  readonly readsResponse: boolean
}

/** Compiles the `inputs`. @throws Error if an expression is invalid. */
export function compileInputs(texts: Readonly<Record<string, string>>, env: CompileEnv): Inputs {
  const expressions = Object.entries(texts).map(([name, text]) => [name, env.expression(text)] as const)
  const all = expressions.map(([, each]) => each)
  return {
    texts,
    variables: new Map(expressions.map(([name, each]) => [`inputs.${name}`, rendering(each)])),
    readsBody: all.some(({ readsBody }) => readsBody),
    readsResponse: all.some(({ readsResponse }) => readsResponse),
  }
}

function rendering(expression: Expression): Render {
  return (x) => {
    const value = valueFor(expression, x)
    return value === null ? '' : String(value)
  }
}

/**
 * Returns the value, or null if the expression cannot be evaluated for this request. @throws UnreadableBody
 */
function valueFor(expression: Expression, x: Exchange): ExpressionValue {
  try {
    return expression.value(x)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
