import type { Reading } from './reading.js'
import { DASHES, INVISIBLE, type Spans, withCutEnd } from './spans.js'

const MIN_DIGITS = 13
const MAX_DIGITS = 19
/** Maximum number of characters between two groups. */
const MAX_SEPARATORS = 3
const ZERO = 48
/** Separators between groups of any length: spaces, line breaks, dashes and invisible characters. */
const LOOSE = `[\\s${DASHES}${INVISIBLE}\\u2212]`
const LOOSE_ONE = new RegExp(LOOSE)
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
/** The lengths as one number each, and those of the first groups. */
const SHAPES: ReadonlySet<number> = new Set(PRINTED.map(shapeOf))
const BEGUN_SHAPES: ReadonlySet<number> = new Set(
  PRINTED.flatMap((lengths) => lengths.map((_, i) => shapeOf(lengths.slice(0, i + 1)))),
)
/** First digits of the Troy scheme. Others are identified by one digit; 1 is mostly that of timestamps. */
const TROY = 9792
/** First digit of digits in groups of a card. Each card number matches; most other digits do not. */
const MAY_HOLD = new RegExp(
  `[2-69](?<!\\d\\d)(?:(?:${LOOSE}{0,3}\\d){12}|\\d{3}(?:\\D{1,3}(?:\\d{4}\\D{1,3}\\d{4}\\D{1,3}\\d{4}|\\d{6}\\D{1,3}\\d{4})|\\d{4}\\D{1,3}\\d{8}))`,
  'g',
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
export function findCards({ text }: Reading, isCut: boolean): Spans {
  const found = cardSpans(text)
  return isCut ? withCutEnd(found, text, CUT, 80) : found
}

function cardSpans(text: string): Spans {
  const spans: number[] = []
  // A sequence of groups may contain more than the card number, such as `2 4111111111111111`, so try every
  // group as the first one.
  MAY_HOLD.lastIndex = 0
  for (let match = MAY_HOLD.exec(text); match !== null; match = MAY_HOLD.exec(text)) {
    const at = match.index
    MAY_HOLD.lastIndex = at + 1
    const end = endOfNumber(text, at)
    if (end === -1 || isInUuid(text, at, end)) continue
    // Matches that overlap are merged, so both are masked.
    if (at >= (spans.at(-1) ?? 0)) spans.push(at, end)
    else if (end > spans.at(-1)!) spans[spans.length - 1] = end
  }
  return spans
}

/**
 * Returns the end of the longest card number that starts with the group of digits at `start`, or -1. Reads at most the
 * digits of a card number and the separators between them.
 */
function endOfNumber(text: string, start: number): number {
  let [digits, shape, beginning, found] = [0, 0, 0, -1]
  // Luhn sums, with every second digit doubled from the first or from the second digit on.
  let [sumFromFirst, sumFromSecond] = [0, 0]
  let isLoose = true
  for (let at = start; ; ) {
    const group = at
    for (let digit = digitAt(text, at); digit !== -1; digit = digitAt(text, ++at)) {
      if (++digits > MAX_DIGITS) return found
      if (digits <= 4) beginning = beginning * 10 + digit
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2
      sumFromFirst += digits % 2 === 1 ? doubled : digit
      sumFromSecond += digits % 2 === 1 ? digit : doubled
    }
    shape = shape * (MAX_DIGITS + 1) + at - group
    if (!isLoose && !BEGUN_SHAPES.has(shape)) return found
    if (digits >= MIN_DIGITS && (isLoose || SHAPES.has(shape))) {
      const isScheme = beginning < 7000 || beginning === TROY
      const isLuhn = (digits % 2 === 0 ? sumFromFirst : sumFromSecond) % 10 === 0
      if (isScheme && isLuhn && !(group === start && isFraction(text, start))) found = at
    }
    const gap = at
    for (; digitAt(text, at) === -1; at++) {
      if (at - gap === MAX_SEPARATORS || at === text.length) return found
      isLoose &&= isLooseSeparator(text.charCodeAt(at))
    }
  }
}

function shapeOf(lengths: readonly number[]): number {
  return lengths.reduce((shape, length) => shape * (MAX_DIGITS + 1) + length, 0)
}

/** Returns the digit at a position, or -1. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - ZERO
  return digit >= 0 && digit <= 9 ? digit : -1
}

function isLooseSeparator(code: number): boolean {
  if (code < 128) return code === 32 || code === 45 || (code >= 9 && code <= 13)
  return LOOSE_ONE.test(String.fromCharCode(code))
}

/** Returns true for digits in one piece after a decimal point. */
function isFraction(text: string, start: number): boolean {
  return text.charCodeAt(start - 1) === 46 && digitAt(text, start - 2) !== -1
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
