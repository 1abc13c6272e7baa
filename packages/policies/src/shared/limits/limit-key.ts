import {
  type CompileEnv,
  clientNetwork,
  counterKey,
  type Exchange,
  type Expression,
  isAddressKey,
  UnreadableBody,
} from '@sluice/core'

/** Default counter key of requests. */
export const DEFAULT_KEY = 'client.ip'
/** Default maximum cost. */
const MAX_COST = 1_000_000_000

/** Reads the counter key of a request, or returns null if it has none. */
export interface KeyReader {
  readonly readsBody: boolean
  read(x: Exchange): string | null
}

/**
 * Compiles the counter key from a list of expressions. `client.ip` counts IPv6 addresses by their /64 network, in
 * which a client may use any address.
 * @param shape normalizes the value of any other part.
 * @throws Error for an invalid expression, or one that reads the response.
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
    throw new Error(
      `the key '${texts[late]}' reads the response, but requests are counted before they are sent`,
    )
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
        // Escaping keeps parts distinct.
        values.push(value.replaceAll('\\', '\\\\').replaceAll('|', '\\|'))
      }
      return keyOf(values.join('|'))
    },
  }
}

function keyOf(text: string | null): string | null {
  return text === null ? null : counterKey(text)
}

/** Returns the value of a key part, or null if it is missing or cannot be evaluated. */
function partOf(part: Expression, x: Exchange, shape: (part: string) => string): string | null {
  const value = evaluate(part, x)
  return value === null || value === '' ? null : shape(String(value))
}

/** Minimum and maximum cost of a request. */
export interface CostBounds {
  readonly min: number
  readonly max: number
}

/** Returns the cost bounds of a configuration. @throws Error if the minimum exceeds the maximum. */
export function costBounds(
  { minCost, maxCost: max = MAX_COST }: { readonly minCost?: number; readonly maxCost?: number },
  readsResponse: boolean,
): CostBounds {
  // Callers can influence their requests, but not the responses of the upstream.
  const min = minCost ?? (readsResponse ? 0 : 1)
  if (min > max) throw new Error(`'minCost' (${min}) is above 'maxCost' (${max})`)
  return { min, max }
}

/**
 * Returns the cost of a request: a whole number within the bounds, rounded up. Missing, negative and non-numeric
 * values count as 1, infinite values as the maximum.
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
    // A body that cannot be read is refused. Other evaluation errors count as a missing value.
    if (error instanceof UnreadableBody) throw error
    return null
  }
}
