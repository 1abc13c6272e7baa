import type { Reading } from './reading.js'
import { DASHES, INVISIBLE, matchingSpans, NO_SPANS, type Spans, withCutEnd } from './spans.js'

const MIN_DIGITS = 13
const MAX_DIGITS = 19
/** Maximum number of characters between two groups. */
const MAX_SEPARATORS = 3
/** Enough digits, close to each other. Most texts have none and need no closer look. */
const MAY_HOLD = /\d(?:\D{0,3}\d){12}/
/** Separators between groups of any length: spaces, line breaks, dashes and invisible characters. */
const LOOSE = new RegExp(`^[\\s${DASHES}${INVISIBLE}\\u2212]*$`)
const CUT = /(?<!\d|\d\.)\d(?:[^\dA-Za-z,:;"'{}[\]]{0,3}\d){5,18}[^\dA-Za-z,:;"'{}[\]]{0,3}$/
/** Group lengths as printed on cards. Between groups of these lengths, any separator is accepted. */
const PRINTED: readonly string[] = ['4 4 4 4 ', '4 6 5 ', '4 6 4 ', '4 4 4 4 3 ', '4 4 4 5 ', '8 8 ']
/** First digits of the card schemes, including Troy (9792). Numbers starting with 1 are mostly timestamps. */
const SCHEME = /^(?:[2-6]|9792)/
const BEGINNINGS = '234569'
const GROUP = /\d+/g

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
export function findCards({ text }: Reading, isCut: boolean): Spans {
  const found = MAY_HOLD.test(text) ? cardSpans(text) : NO_SPANS
  return isCut ? withCutEnd(found, text, CUT, 80) : found
}

function cardSpans(text: string): Spans {
  const groups = matchingSpans(text, GROUP)
  const spans: number[] = []
  // A sequence of groups may contain more than the card number, such as `2 4111111111111111`, so try every
  // group as the first one.
  for (let first = 0; first < groups.length; first += 2) {
    const start = groups[first]!
    const end = BEGINNINGS.includes(text[start]!) ? endOfNumber(text, groups, first) : -1
    if (end === -1 || isInUuid(text, start, end)) continue
    // Matches that overlap are merged, so both are masked.
    if (start >= (spans.at(-1) ?? 0)) spans.push(start, end)
    else if (end > spans.at(-1)!) spans[spans.length - 1] = end
  }
  return spans
}

/**
 * Returns the end of the longest card number that starts with this group, or -1. Takes at most as many steps
 * as a card number has digits.
 */
function endOfNumber(text: string, groups: Spans, first: number): number {
  let number = ''
  let shape = ''
  let isLoose = true
  let found = -1
  for (let i = first; i < groups.length; i += 2) {
    const [start, end] = [groups[i]!, groups[i + 1]!]
    if (i > first) {
      if (start - groups[i - 1]! > MAX_SEPARATORS) return found
      isLoose &&= LOOSE.test(text.slice(groups[i - 1]!, start))
    }
    if (number.length + end - start > MAX_DIGITS) return found
    number += text.slice(start, end)
    shape += `${end - start} `
    if (!isLoose && !PRINTED.some((lengths) => lengths.startsWith(shape))) return found
    if (number.length < MIN_DIGITS || !(isLoose || PRINTED.includes(shape))) continue
    if (SCHEME.test(number) && isLuhn(number) && !(i === first && isFraction(text, start))) found = end
  }
  return found
}

/** Verifies the Luhn check digit: from the right, every second digit counts double. */
function isLuhn(number: string): boolean {
  let sum = 0
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number.at(-1 - i))
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

/** Returns true for digits in one piece after a decimal point. */
function isFraction(text: string, start: number): boolean {
  return /\d\.$/.test(text.slice(Math.max(0, start - 2), start))
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
