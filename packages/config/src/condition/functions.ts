import { compileCidrs, compileRegex, type Regex } from '@sluice/core'
import { ConditionError } from './condition-error.js'
import { type Code, dynamic, exact, fixed, NO_EXCHANGE, type Value } from './value.js'

/**
 * Compiles a call of a function of the language. The receiver is the first argument.
 * @throws RangeError at load time
 */
export type FunctionCompiler = (args: readonly Code[]) => Code

/** The functions of the language, by name. A method call passes its receiver as the first argument. */
export const FUNCTIONS: Readonly<Record<string, FunctionCompiler>> = {
  size: ([of]) => mapValue(of!, sizeOf),
  startsWith: ([text, part]) => textTest(text!, part!, (a, b) => a.startsWith(b)),
  endsWith: ([text, part]) => textTest(text!, part!, (a, b) => a.endsWith(b)),
  contains: ([text, part]) => textTest(text!, part!, (a, b) => a.includes(b)),
  matches: ([text, pattern]) => matches(text!, pattern!),
  lower: ([text]) => mapValue(text!, (value) => (value as string | null)?.toLowerCase() ?? null),
  upper: ([text]) => mapValue(text!, (value) => (value as string | null)?.toUpperCase() ?? null),
  string: ([value]) => mapValue(value!, (of) => (of === null ? null : String(of))),
  int: ([value]) => conversion(value!, toInt, false),
  double: ([value]) => conversion(value!, toNumber, true),
  bool: ([value]) => conversion(value!, toBool, false),
  inCidr: ([ip, ranges]) => inCidr(ip!, ranges!),
}

/** Applies a function to one value, at load time if it is constant. */
function mapValue(of: Code, apply: (value: Value) => Value): Code {
  if (of.isFixed) return fixed(apply(of.run(NO_EXCHANGE)))
  return dynamic((x) => apply(of.run(x)), { mayThrow: of.mayThrow })
}

function sizeOf(value: Value): number {
  if (value === null) return 0
  if (typeof value === 'string') return codePoints(value)
  if (Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}

/** Returns the number of code points. JavaScript strings use two units for code points above U+FFFF. */
function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    if (text.codePointAt(i)! > 0xffff) {
      count--
      i++
    }
  }
  return count
}

/** Compiles a test of two strings, which is false if either is absent. */
function textTest(text: Code, part: Code, test: (text: string, part: string) => boolean): Code {
  const apply = (a: Value, b: Value): boolean => typeof a === 'string' && typeof b === 'string' && test(a, b)
  if (part.isFixed) {
    const known = part.run(NO_EXCHANGE)
    return mapValue(text, (value) => apply(value, known))
  }
  return dynamic((x) => apply(text.run(x), part.run(x)), { mayThrow: text.mayThrow || part.mayThrow })
}

function matches(text: Code, pattern: Code): Code {
  if (!pattern.isFixed) throw new RangeError('the pattern of matches() must be a constant')
  const test = compileMatch(pattern.run(NO_EXCHANGE) as string)
  const apply = (value: Value): boolean => typeof value === 'string' && test(value)
  if (text.isFixed) return fixed(apply(text.run(NO_EXCHANGE)))
  return dynamic((x) => apply(text.run(x)), { mayThrow: true })
}

function conversion(of: Code, convert: (value: Value) => Value, isDouble: boolean): Code {
  if (of.isFixed) return fixed(convert(of.run(NO_EXCHANGE)), isDouble)
  return dynamic((x) => convert(of.run(x)), { isDouble, mayThrow: true })
}

function toNumber(value: Value): Value {
  if (value === null || typeof value === 'number') return value
  const number = typeof value === 'string' && isDecimal(value) ? Number(value) : Number.NaN
  if (Number.isNaN(number)) throw new ConditionError('the string is not a number')
  return number
}

/**
 * True for a decimal number with optional sign, fraction and exponent. `Number` alone would also accept " 7",
 * "0x7" and "".
 */
function isDecimal(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (!'0123456789+-.eE'.includes(text[i]!)) return false
  }
  return text !== ''
}

function toInt(value: Value): Value {
  const number = toNumber(value)
  return number === null ? null : exact(Math.trunc(number as number))
}

function toBool(value: Value): Value {
  if (value === null || typeof value === 'boolean') return value
  if (value === 'true') return true
  if (value === 'false') return false
  throw new ConditionError('the string is neither true nor false')
}

function inCidr(ip: Code, ranges: Code): Code {
  if (!ranges.isFixed) throw new RangeError('the ranges of inCidr() must be constants')
  const value = ranges.run(NO_EXCHANGE)
  const set = compileCidrs(Array.isArray(value) ? (value as string[]) : [value as string])
  return mapValue(ip, (address) => typeof address === 'string' && set.has(address))
}

/** Maximum length of the pattern of `matches()`, in characters. */
const MAX_PATTERN = 1000
/** Maximum length of the text for `matches()`, in characters. Matching is linear but still takes time. */
const MAX_MATCHED = 65_536

/**
 * Compiles the pattern of `matches()` with RE2, as CEL requires: its time is linear in the length of the
 * text. The test throws a ConditionError for texts of more than 65,536 characters.
 * @throws RangeError for an invalid pattern, or one with look-around or backreferences, which RE2 does not
 * support
 */
export function compileMatch(source: string): (text: string) => boolean {
  if (source.length > MAX_PATTERN)
    throw new RangeError(`the pattern of matches() is longer than ${MAX_PATTERN} characters`)
  let regex: Regex
  try {
    regex = compileRegex(source)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RangeError(`matches() cannot use the pattern '${source}': ${reason}`)
  }
  return (text) => {
    if (text.length > MAX_MATCHED) throw new ConditionError('the string is too long for matches()')
    return regex.test(text)
  }
}
