import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const LEAST_DIGITS = 13
const MOST_DIGITS = 19
/** Digits in groups, as many as the shortest number has. Not behind a decimal point: that is a fraction. */
const DIGITS = /(?<!\d|\d\.)\d(?:[ \u00a0-]?\d){12,}/g
const CUT = /(?<!\d|\d\.)\d(?:[ \u00a0-]?\d){5,18}[ \u00a0-]?$/
/** The first digits of the card schemes, Troy (9792) among them. What begins with 1 is mostly a time. */
const SCHEME = /^(?:[2-6]|9792)/

/** Payment card numbers (ISO/IEC 7812) with a sound check digit, in one piece or in groups. */
export function findCards(text: string, isCut: boolean): Spans {
  DIGITS.lastIndex = 0
  let spans: number[] | null = null
  for (let match = DIGITS.exec(text); match !== null; match = DIGITS.exec(text)) {
    spans ??= []
    addNumbers(spans, match[0], match.index)
  }
  const found = spans ?? NO_SPANS
  return isCut ? withCutEnd(found, text, CUT, 40) : found
}

/** A run may hold more than the number: `2 4111111111111111` does. Every sequence of whole groups is tried. */
function addNumbers(spans: number[], run: string, offset: number): void {
  const groups = [...run.matchAll(/\d+/g)].map((match) => ({ digits: match[0], at: match.index }))
  for (let first = 0; first < groups.length; first++) {
    const last = lastGroup(groups, first)
    if (last === -1) continue
    const { digits, at } = groups[last]!
    spans.push(offset + groups[first]!.at, offset + at + digits.length)
    first = last
  }
}

/** The last group of the longest number that begins with group `first`, or -1. */
function lastGroup(groups: readonly { readonly digits: string }[], first: number): number {
  let digits = ''
  let found = -1
  for (let i = first; i < groups.length; i++) {
    digits += groups[i]!.digits
    if (digits.length > MOST_DIGITS) return found
    if (digits.length >= LEAST_DIGITS && SCHEME.test(digits) && isLuhn(digits)) found = i
  }
  return found
}

/** The check of Luhn: from the right, every second digit counts double. */
function isLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48
    const weighted = i % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}
