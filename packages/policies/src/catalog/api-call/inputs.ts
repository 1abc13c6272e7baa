import type { CompileEnv, Exchange, Expression, ExpressionValue } from '@sluice/core'
import type { OwnVariables, Render } from '../../shared/template.js'

/** Values that the author gives to the templates of calls. */
export interface Inputs {
  /** By `inputs.NAME`. */
  readonly variables: OwnVariables
  /** As the document has them. */
  readonly texts: Readonly<Record<string, string>>
  readonly readsBody: boolean
  readonly readsResponse: boolean
}

/** @throws Error for an expression that is none. */
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

/** What makes no sense is as good as nothing. @throws UnreadableBody */
function valueFor(expression: Expression, x: Exchange): ExpressionValue {
  try {
    return expression.value(x)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
