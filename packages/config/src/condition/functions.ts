import { compileCidrs, compileRegex, type Regex } from '@sluice/core'
import { ConditionError } from './condition-error.js'
import { type Code, dynamic, exact, fixed, NOBODY, type Value } from './value.js'

/** A function of the language: receiver and arguments as one list of compiled expressions. @throws RangeError at load. */
export type FunctionCompiler = (args: readonly Code[]) => Code

/** By name; a method call has its receiver as first argument. */
export const FUNCTIONS: Readonly<Record<string, FunctionCompiler>> = {
  size: ([of]) => map1(of!, sizeOf),
  startsWith: ([text, part]) => textTest(text!, part!, (a, b) => a.startsWith(b)),
  endsWith: ([text, part]) => textTest(text!, part!, (a, b) => a.endsWith(b)),
  contains: ([text, part]) => textTest(text!, part!, (a, b) => a.includes(b)),
  matches: ([text, pattern]) => matches(text!, pattern!),
  lower: ([text]) => map1(text!, (value) => (value as string | null)?.toLowerCase() ?? null),
  upper: ([text]) => map1(text!, (value) => (value as string | null)?.toUpperCase() ?? null),
  string: ([value]) => map1(value!, (of) => (of === null ? null : String(of))),
  int: ([value]) => conversion(value!, toInt, false),
  double: ([value]) => conversion(value!, toNumber, true),
  bool: ([value]) => conversion(value!, toBool, false),
  inCidr: ([ip, ranges]) => inCidr(ip!, ranges!),
}

/** Applies a function to one value, at load if that is known. */
function map1(of: Code, apply: (value: Value) => Value): Code {
  if (of.isFixed) return fixed(apply(of.run(NOBODY)))
  return dynamic((x) => apply(of.run(x)), { mayThrow: of.mayThrow })
}

function sizeOf(value: Value): number {
  if (value === null) return 0
  if (typeof value === 'string') return codePoints(value)
  if (Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}

/** Returns the number of code points, of which JavaScript keeps those above U+FFFF as two units. */
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

/** A test on two texts: false when either is absent. */
function textTest(text: Code, part: Code, test: (text: string, part: string) => boolean): Code {
  const apply = (a: Value, b: Value): boolean => typeof a === 'string' && typeof b === 'string' && test(a, b)
  if (part.isFixed) {
    const known = part.run(NOBODY)
    return map1(text, (value) => apply(value, known))
  }
  return dynamic((x) => apply(text.run(x), part.run(x)), { mayThrow: text.mayThrow || part.mayThrow })
}

function matches(text: Code, pattern: Code): Code {
  if (!pattern.isFixed) throw new RangeError('the pattern of matches() must be a constant')
  const test = compileMatch(pattern.run(NOBODY) as string)
  const apply = (value: Value): boolean => typeof value === 'string' && test(value)
  if (text.isFixed) return fixed(apply(text.run(NOBODY)))
  return dynamic((x) => apply(text.run(x)), { mayThrow: true })
}

function conversion(of: Code, convert: (value: Value) => Value, isDouble: boolean): Code {
  if (of.isFixed) return fixed(convert(of.run(NOBODY)), isDouble)
  return dynamic((x) => convert(of.run(x)), { isDouble, mayThrow: true })
}

function toNumber(value: Value): Value {
  if (value === null || typeof value === 'number') return value
  const number = typeof value === 'string' && isDecimal(value) ? Number(value) : Number.NaN
  if (Number.isNaN(number)) throw new ConditionError('the text is not a number')
  return number
}

/** True for digits with a sign, a fraction or an exponent; of other texts `Number` takes " 7", "0x7" and "". */
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
  throw new ConditionError('the text is neither true nor false')
}

function inCidr(ip: Code, ranges: Code): Code {
  if (!ranges.isFixed) throw new RangeError('the ranges of inCidr() must be constants')
  const value = ranges.run(NOBODY)
  const set = compileCidrs(Array.isArray(value) ? (value as string[]) : [value as string])
  return map1(ip, (address) => typeof address === 'string' && set.has(address))
}

/** Longest pattern of `matches()`, in characters. */
const MAX_PATTERN = 1000
/** Longest text that is matched, in characters: linear time is still time. */
const MAX_MATCHED = 65_536

/**
 * Compiles the pattern of `matches()`, RE2 as CEL wants it: its time grows with the text only, whatever callers send.
 * The test throws a ConditionError for a text of more than 65,536 characters.
 * @throws RangeError when it is no pattern, or has what RE2 cannot do: look-around and back references.
 */
export function compileMatch(source: string): (text: string) => boolean {
  if (source.length > MAX_PATTERN) {
    throw new RangeError(`the pattern of matches() is longer than ${MAX_PATTERN} characters`)
  }
  let regex: Regex
  try {
    regex = compileRegex(source)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RangeError(`matches() cannot use the pattern '${source}': ${reason}`)
  }
  return (text) => {
    if (text.length > MAX_MATCHED) throw new ConditionError('the text is too long for matches()')
    return regex.test(text)
  }
}
