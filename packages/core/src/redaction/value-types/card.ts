import type { Reading } from './reading.js'
import { isDash, isInvisible, isSpace } from './separators.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const MIN_DIGITS = 13
const MAX_DIGITS = 19
/** Maximum number of characters between two groups. */
const MAX_SEPARATORS = 3
const ZERO = 48
const TWO = 50
const SIX = 54
const NINE = 57
const MINUS_SIGN = 0x2212
const CUT = /(?<!\d|\d\.)\d(?:[^\dA-Za-z,:;"'{}[\]]{0,3}\d){5,18}[^\dA-Za-z,:;"'{}[\]]{0,3}$/
/** Group lengths as printed on cards. Between groups of these lengths, any separator is accepted. */
const PRINTED: readonly (readonly number[])[] = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 4, 4, 3],
  [4, 4, 4, 5],
  [8, 8],
]
const PRINTED_WHOLE: ReadonlySet<number> = new Set(PRINTED.map((lengths) => lengths.reduce(longerShape, 0)))
const PRINTED_BEGUN: ReadonlySet<number> = new Set(
  PRINTED.flatMap((lengths) => lengths.map((_, last) => lengths.slice(0, last + 1).reduce(longerShape, 0))),
)

/**
 * Matches a UUID (RFC 9562) with its version and variant. One UUID in ten contains digits that pass as a card
 * number.
 */
const UUID =
  /(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![0-9a-f-])/gi
const UUID_LENGTH = 36

/**
 * Finds payment card numbers (ISO/IEC 7812) with a valid check digit, in one piece or in groups, except
 * inside a UUID.
 */
export function findCards({ text, longRuns }: Reading, isCut: boolean): Spans {
  let spans: number[] | null = null
  // A sequence of groups may contain more than the card number, such as `2 4111111111111111`, so try every
  // group as the first one.
  for (let first = 0; first < longRuns.length; first += 2) {
    const end = endOfNumber(text, longRuns, first)
    if (end === -1 || isInUuid(text, longRuns[first]!, end)) continue
    spans ??= []
    // Matches that overlap are merged, so both are masked.
    if (longRuns[first]! >= (spans.at(-1) ?? 0)) spans.push(longRuns[first]!, end)
    else if (end > spans.at(-1)!) spans[spans.length - 1] = end
  }
  const found = spans ?? NO_SPANS
  return isCut ? withCutEnd(found, text, CUT, 80) : found
}

/**
 * Returns the end of the longest card number that starts with this group, or -1. Takes at most as many steps
 * as a card number has digits.
 */
function endOfNumber(text: string, runs: readonly number[], first: number): number {
  const start = runs[first]!
  if (!mayBeginScheme(text.charCodeAt(start))) return -1
  let digits = 0
  let shape = 0
  let isLoose = true
  let found = -1
  for (let i = first; i < runs.length; i += 2) {
    const end = runs[i + 1]!
    if (i > first) {
      if (runs[i]! - runs[i - 1]! > MAX_SEPARATORS) return found
      isLoose &&= isLooseBetween(text, runs[i - 1]!, runs[i]!)
    }
    digits += end - runs[i]!
    if (digits > MAX_DIGITS) return found
    shape = longerShape(shape, end - runs[i]!)
    if (!isLoose && !PRINTED_BEGUN.has(shape)) return found
    if (digits < MIN_DIGITS || !(isLoose || PRINTED_WHOLE.has(shape))) continue
    if (!isLuhn(text, start, end) || !isOfScheme(text, start, end)) continue
    // Digits in one piece after a decimal point are a fraction.
    if (i > first || !isBehindPoint(text, start)) found = end
  }
  return found
}

/**
 * Returns true for the first digits of the card schemes, including Troy (9792). Numbers starting with 1 are
 * mostly timestamps.
 */
function mayBeginScheme(code: number): boolean {
  return (code >= TWO && code <= SIX) || code === NINE
}

function isOfScheme(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start) !== NINE) return true
  return text.slice(start, end).replace(/\D/g, '').startsWith('9792')
}

/** Verifies the Luhn check digit: from the right, every second digit counts double. */
function isLuhn(text: string, start: number, end: number): boolean {
  let sum = 0
  let isDoubled = false
  for (let i = end - 1; i >= start; i--) {
    const digit = text.charCodeAt(i) - ZERO
    if (digit < 0 || digit > 9) continue
    if (!isDoubled) sum += digit
    else sum += digit > 4 ? digit * 2 - 9 : digit * 2
    isDoubled = !isDoubled
  }
  return sum % 10 === 0
}

/** Appends a group length to a sequence of group lengths encoded as one number. */
function longerShape(shape: number, length: number): number {
  return shape * (MAX_DIGITS + 1) + length
}

/**
 * Returns true if the text between two groups consists of spaces, line breaks, dashes and invisible
 * characters. Such groups may have any length.
 */
function isLooseBetween(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (!isSpace(code) && !isDash(code) && !isInvisible(code) && code !== MINUS_SIGN) return false
  }
  return true
}

function isInUuid(text: string, start: number, end: number): boolean {
  // Includes one character before and after the UUID's possible positions for the look-around.
  const from = Math.max(0, end - UUID_LENGTH - 1)
  for (const { 0: uuid, index } of text.slice(from, start + UUID_LENGTH + 1).matchAll(UUID)) {
    const at = from + index
    // A UUID without letters could also be a number in groups.
    if (at <= start && end <= at + UUID_LENGTH && /[a-f]/i.test(uuid)) return true
  }
  return false
}

function isBehindPoint(text: string, at: number): boolean {
  if (text[at - 1] !== '.') return false
  const before = text.charCodeAt(at - 2)
  return before >= ZERO && before <= NINE
}
