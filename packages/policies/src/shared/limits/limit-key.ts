import {
  type CompileEnv,
  clientNetwork,
  counterKey,
  type Exchange,
  type Expression,
  isAddressKey,
  UnreadableBody,
} from '@sluice/core'

/** What requests are counted by, of those that are not written otherwise. */
export const DEFAULT_KEY = 'client.ip'
/** Largest cost where nobody says otherwise. */
const MAX_COST = 1_000_000_000

/** Reads the key of a request; null: it has none. */
export interface KeyReader {
  readonly readsBody: boolean
  read(x: Exchange): string | null
}

/**
 * The key of a list of expressions; `client.ip` counts IPv6 addresses by their /64, in which a client may take any.
 * @param shape what any other part counts as.
 * @throws Error for an expression that is none, or reads the response.
 */
export function compileKey(
  texts: readonly string[],
  env: CompileEnv,
  shape: (part: string) => string = (part) => part,
): KeyReader {
  const shapes = texts.map((text) => (isAddressKey(text) ? clientNetwork : shape))
  const parts = texts.map((text) => env.expression(text))
  const late = parts.findIndex(({ readsResponse }) => readsResponse)
  if (late >= 0)
    throw new Error(`the key '${texts[late]}' reads the response; it is counted before there is one`)
  const [only] = parts
  const readsBody = parts.some((part) => part.readsBody)
  if (parts.length === 1) return { readsBody, read: (x) => keyOf(partOf(only!, x, shapes[0]!)) }
  return {
    readsBody,
    read(x) {
      const values: string[] = []
      for (const [i, part] of parts.entries()) {
        const value = partOf(part, x, shapes[i]!)
        if (value === null) return null
        // No part can look like two.
        values.push(value.replaceAll('\\', '\\\\').replaceAll('|', '\\|'))
      }
      return keyOf(values.join('|'))
    },
  }
}

function keyOf(text: string | null): string | null {
  return text === null ? null : counterKey(text)
}

/** Null: there is nothing, or nothing that makes sense. */
function partOf(part: Expression, x: Exchange, shape: (part: string) => string): string | null {
  const value = evaluate(part, x)
  return value === null || value === '' ? null : shape(String(value))
}

/** Smallest and largest cost of a request. */
export interface CostBounds {
  readonly min: number
  readonly max: number
}

/** @throws Error when the smallest cost is above the largest. */
export function costBounds(
  { minCost, maxCost: max = MAX_COST }: { readonly minCost?: number; readonly maxCost?: number },
  readsResponse: boolean,
): CostBounds {
  // Callers choose what their requests say, and not what the upstream answers.
  const min = minCost ?? (readsResponse ? 0 : 1)
  if (min > max) throw new Error(`'minCost' (${min}) is above 'maxCost' (${max})`)
  return { min, max }
}

/**
 * Returns the cost of a request: a whole number within the bounds, fractions rounded up. A value that is no number, is
 * negative or is not there counts as 1; one beyond all numbers is the largest.
 */
export function costOf(cost: Expression, x: Exchange, { min, max }: CostBounds): number {
  let value: ReturnType<Expression['value']>
  try {
    value = cost.value(x)
  } catch (error) {
    if (error instanceof UnreadableBody) throw error
    value = (error as { readonly isOutOfRange?: boolean }).isOutOfRange === true ? max : null
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const known = typeof number === 'number' && number >= 0 ? Math.ceil(number) : 1
  return Math.min(Math.max(known, min), max)
}

function evaluate(expression: Expression, x: Exchange): ReturnType<Expression['value']> {
  try {
    return expression.value(x)
  } catch (error) {
    // A body that cannot be read is refused; all else that callers send is as good as nothing.
    if (error instanceof UnreadableBody) throw error
    return null
  }
}
