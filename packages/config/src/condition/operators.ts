import { ConditionError } from './condition-error.js'
import {
  applied,
  type Code,
  compare,
  dynamic,
  exact,
  fixed,
  isEqual,
  NO_EXCHANGE,
  type Value,
} from './value.js'

/** Compiles a binary operator. */
export function binary(op: string, a: Code, b: Code): Code {
  if (op === '&&' || op === '||') return logical(op === '||', a, b)
  if (op === '==' || op === '!=') return equality(op === '==', a, b)
  const comparison = COMPARISONS[op]
  if (comparison === undefined) return arithmetic(op, a, b)
  return applied([a, b], ([m, n]) => comparison(compare(m ?? null, n ?? null)))
}

/** Compiles `!a`. */
export function not(a: Code): Code {
  return applied([a], ([value]) => value !== true)
}

/** Compiles `-a`. */
export function negative(a: Code): Code {
  return applied([a], ([value]) => (value === null ? null : -(value as number)), a.isDouble)
}

/** `false && error` is false and `true || error` is true, whichever side the error is on (CEL, "Logical Operators"). */
function logical(isOr: boolean, a: Code, b: Code): Code {
  if (a.isFixed) return a.run(NO_EXCHANGE) === isOr ? fixed(isOr) : b
  if (b.isFixed) return b.run(NO_EXCHANGE) === isOr ? fixed(isOr) : a
  if (!a.mayThrow) return dynamic((x) => (a.run(x) === isOr ? isOr : b.run(x)), { mayThrow: b.mayThrow })
  return dynamic(
    (x) => {
      try {
        if (a.run(x) === isOr) return isOr
      } catch (error) {
        if (b.run(x) === isOr) return isOr
        throw error
      }
      return b.run(x)
    },
    { mayThrow: true },
  )
}

/** Compiles `==` and `!=`. Nearly every condition uses them, so they get a closure without lists. */
function equality(isSame: boolean, a: Code, b: Code): Code {
  if (a.isFixed && b.isFixed) return fixed(isEqual(a.run(NO_EXCHANGE), b.run(NO_EXCHANGE)) === isSame)
  const [known, open] = a.isFixed ? [a, b] : [b, a]
  const traits = { mayThrow: a.mayThrow || b.mayThrow }
  if (!known.isFixed) return dynamic((x) => isEqual(a.run(x), b.run(x)) === isSame, traits)
  const value = known.run(NO_EXCHANGE)
  if (typeof value === 'object') return dynamic((x) => isEqual(open.run(x), value) === isSame, traits)
  return dynamic((x) => (open.run(x) === value) === isSame, traits)
}

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

function arithmetic(op: string, a: Code, b: Code): Code {
  const isDouble = a.isDouble || b.isDouble
  const throws = op === '/' || op === '%'
  return applied(
    [a, b],
    ([m, n]) => calculate(op, isDouble, m ?? null, n ?? null),
    isDouble,
    throws || !(a.isFixed && b.isFixed),
  )
}

function calculate(op: string, isDouble: boolean, a: Value, b: Value): Value {
  if (op === '+' && (typeof a === 'string' || typeof b === 'string')) return `${a ?? ''}${b ?? ''}`
  if (Array.isArray(a) && Array.isArray(b)) return [...(a as Value[]), ...(b as Value[])]
  if (typeof a !== 'number' || typeof b !== 'number') return null
  if ((op === '/' || op === '%') && b === 0 && !isDouble) throw new ConditionError('division by zero')
  return exact(round(op, isDouble, operate(op, a, b)))
}

function operate(op: string, a: number, b: number): number {
  if (op === '+') return a + b
  if (op === '-') return a - b
  if (op === '*') return a * b
  return op === '/' ? a / b : a % b
}

/** Truncates integer divisions towards zero. */
function round(op: string, isDouble: boolean, value: number): number {
  return op === '/' && !isDouble ? Math.trunc(value) : value
}
