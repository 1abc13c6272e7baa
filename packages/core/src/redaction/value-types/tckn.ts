import type { Reading } from './reading.js'
import { isDash, isSpace } from './separators.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const DIGITS = 11
/** Maximum number of characters between two groups. */
const MAX_SEPARATORS = 2
const POINT = 46
const ZERO = 48
const FRACTION = /\d\.$/
const CUT = /(?<!\d|\d\.)[1-9]\d{4,9}$/

/** Finds Turkish identity numbers (TCKN) with valid check digits. */
export function findTckns({ text, longRuns }: Reading, isCut: boolean): Spans {
  let found: number[] | null = null
  let after = 0
  for (let first = 0; first < longRuns.length; first += 2) {
    const start = longRuns[first]!
    if (start < after || text.charCodeAt(start) === ZERO) continue
    const end = endOfNumber(text, longRuns, first)
    if (end === -1 || FRACTION.test(text.slice(Math.max(0, start - 2), start))) continue
    if (!hasValidCheckDigits(text.slice(start, end).replace(/\D/g, ''))) continue
    found ??= []
    found.push(start, end)
    after = end
  }
  const spans = found ?? NO_SPANS
  return isCut ? withCutEnd(spans, text, CUT, 12) : spans
}

/** Returns the end of a number with the required digits, in one or more adjacent groups, or -1. */
function endOfNumber(text: string, runs: readonly number[], first: number): number {
  let digits = 0
  for (let i = first; i < runs.length; i += 2) {
    if (i > first && !isBetween(text, runs[i - 1]!, runs[i]!)) return -1
    digits += runs[i + 1]! - runs[i]!
    if (digits >= DIGITS) return digits === DIGITS ? runs[i + 1]! : -1
  }
  return -1
}

function isBetween(text: string, start: number, end: number): boolean {
  if (end - start > MAX_SEPARATORS) return false
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code !== POINT && !isSpace(code) && !isDash(code)) return false
  }
  return true
}

function hasValidCheckDigits(number: string): boolean {
  const digits = Array.from(number, Number)
  const sum = (places: readonly number[]): number => places.reduce((total, i) => total + digits[i]!, 0)
  const odd = sum([0, 2, 4, 6, 8])
  const even = sum([1, 3, 5, 7])
  // The difference may be negative; then -1 becomes 9.
  const tenth = (((odd * 7 - even) % 10) + 10) % 10
  return digits[9] === tenth && digits[10] === (odd + even + digits[9]!) % 10
}
