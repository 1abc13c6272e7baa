import type { Exchange } from '@sluice/core'
import { NumberOutOfRange } from './condition-error.js'

/** A runtime value of an expression; null if absent. Ints and doubles are both numbers. */
export type Value = string | number | boolean | null | readonly Value[] | ReadonlyMap<string, Value>

/** A compiled expression. */
export interface Code {
  /** True if the value is constant. */
  readonly isFixed: boolean
  /** True if the type is double or a list of doubles, which only affects division. */
  readonly isDouble: boolean
  /** True if evaluation can throw a ConditionError. */
  readonly mayThrow: boolean
  run(x: Exchange): Value
}

/** Returns a constant expression. */
export function fixed(value: Value, isDouble = false): Code {
  return { isFixed: true, isDouble, mayThrow: false, run: () => value }
}

/** Returns an expression that is evaluated for each exchange. */
export function dynamic(
  run: (x: Exchange) => Value,
  traits: { isDouble?: boolean; mayThrow?: boolean } = {},
): Code {
  return { isFixed: false, isDouble: traits.isDouble ?? false, mayThrow: traits.mayThrow ?? false, run }
}

/** Placeholder for the exchange when a constant expression is evaluated. */
export const NO_EXCHANGE = undefined as never

/** Applies a function to several values, at load time if all are constant. */
export function applied(
  codes: readonly Code[],
  apply: (values: readonly Value[]) => Value,
  isDouble = false,
  throws = false,
): Code {
  if (codes.every((code) => code.isFixed) && !throws)
    return fixed(apply(codes.map((code) => code.run(NO_EXCHANGE))), isDouble)
  const traits = { isDouble, mayThrow: throws || codes.some((code) => code.mayThrow) }
  const [a, b] = codes
  if (codes.length === 1) return dynamic((x) => apply([a!.run(x)]), traits)
  if (codes.length === 2) return dynamic((x) => apply([a!.run(x), b!.run(x)]), traits)
  return dynamic((x) => apply(codes.map((code) => code.run(x))), traits)
}

/**
 * Compares two values as CEL does: lists and maps by content. An absent value only equals an absent value.
 */
export function isEqual(a: Value, b: Value): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item: Value, i) => isEqual(item, b[i] as Value))
  if (a instanceof Map && b instanceof Map)
    return (
      a.size === b.size &&
      [...a].every(([key, value]) => b.has(key) && isEqual(value as Value, b.get(key) as Value))
    )
  return false
}

/**
 * Returns the order of two values. NaN if either is absent or their types differ, so that every comparison is
 * false.
 */
export function compare(a: Value, b: Value): number {
  if (a === null || b === null || typeof a !== typeof b) return Number.NaN
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return typeof a === 'string' && typeof b === 'string' ? compareTexts(a, b) : Number(a) - Number(b)
}

/** Compares by code points, as CEL does. JavaScript compares UTF-16 units and sorts U+1F600 before U+FF01. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Returns the sort key of a UTF-16 unit. Surrogates, which belong to code points above U+FFFF, come last. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

/** Returns the number if it is exact. @throws NumberOutOfRange for an int beyond 2^53, or NaN */
export function exact(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new NumberOutOfRange()
  return value
}
