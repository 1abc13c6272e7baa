import type { Exchange } from '@sluice/core'
import { NumberOutOfRange } from './condition-error.js'

/** What an expression can be at run time; null: absent. Ints and doubles are both numbers. */
export type Value = string | number | boolean | null | readonly Value[] | ReadonlyMap<string, Value>

/** A compiled expression. */
export interface Code {
  /** The value is known already; `run` gives it. */
  readonly isFixed: boolean
  /** Its type is double, or list of doubles, which matters to division only. */
  readonly isDouble: boolean
  /** Evaluating it can throw a ConditionError. */
  readonly mayThrow: boolean
  run(x: Exchange): Value
}

/** A code whose value is known. */
export function fixed(value: Value, isDouble = false): Code {
  return { isFixed: true, isDouble, mayThrow: false, run: () => value }
}

/** A code that has to be run. */
export function dynamic(
  run: (x: Exchange) => Value,
  traits: { isDouble?: boolean; mayThrow?: boolean } = {},
): Code {
  return { isFixed: false, isDouble: traits.isDouble ?? false, mayThrow: traits.mayThrow ?? false, run }
}

/** Fixed codes do not look at their exchange. */
export const NOBODY = undefined as never

/** Applies a function to several values, at load if all are known. */
export function applied(
  codes: readonly Code[],
  apply: (values: readonly Value[]) => Value,
  isDouble = false,
  throws = false,
): Code {
  if (codes.every((code) => code.isFixed) && !throws)
    return fixed(apply(codes.map((code) => code.run(NOBODY))), isDouble)
  const traits = { isDouble, mayThrow: throws || codes.some((code) => code.mayThrow) }
  const [a, b] = codes
  if (codes.length === 1) return dynamic((x) => apply([a!.run(x)]), traits)
  if (codes.length === 2) return dynamic((x) => apply([a!.run(x), b!.run(x)]), traits)
  return dynamic((x) => apply(codes.map((code) => code.run(x))), traits)
}

/** Equality of CEL over our values: lists and maps by content, an absent value equals only an absent value. */
export function isEqual(a: Value, b: Value): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item: Value, i) => isEqual(item, b[i] as Value))
  }
  if (a instanceof Map && b instanceof Map) {
    return (
      a.size === b.size &&
      [...a].every(([key, value]) => b.has(key) && isEqual(value as Value, b.get(key) as Value))
    )
  }
  return false
}

/** Order of two values; NaN when either is absent or they are of different types, so that every comparison is false. */
export function compare(a: Value, b: Value): number {
  if (a === null || b === null || typeof a !== typeof b) return Number.NaN
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return typeof a === 'string' && typeof b === 'string' ? compareTexts(a, b) : Number(a) - Number(b)
}

/** Compares by code points, as CEL does; `<` of JavaScript has U+1F600 before U+FF01. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Surrogates, halves of code points above U+FFFF, go behind all other units. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

/** Returns the number if it is exact. @throws NumberOutOfRange for an int beyond 2^53 or NaN. */
export function exact(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new NumberOutOfRange()
  return value
}
