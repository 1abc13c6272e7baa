import type { Reading } from './reading.js'
import { DASHES, type Spans, withCutEnd } from './spans.js'

/** Eleven digits in one or more groups, but not the digits after a decimal point. */
const NUMBER = new RegExp(`(?<!\\d|\\d\\.)[1-9](?:[.\\s${DASHES}]{0,2}\\d){10}(?!\\d)`, 'g')
const CUT = /(?<!\d|\d\.)[1-9]\d{4,9}$/

/** Finds Turkish identity numbers (TCKN) with valid check digits. */
export function findTckns({ text }: Reading, isCut: boolean): Spans {
  const spans: number[] = []
  NUMBER.lastIndex = 0
  for (let match = NUMBER.exec(text); match !== null; match = NUMBER.exec(text)) {
    if (hasValidCheckDigits(match[0])) spans.push(match.index, NUMBER.lastIndex)
    // A later group of these digits may start a number.
    else NUMBER.lastIndex = match.index + 1
  }
  return isCut ? withCutEnd(spans, text, CUT, 12) : spans
}

function hasValidCheckDigits(number: string): boolean {
  const digits = Array.from(number.replace(/\D/g, ''), Number)
  const sum = (places: readonly number[]): number => places.reduce((total, i) => total + digits[i]!, 0)
  const odd = sum([0, 2, 4, 6, 8])
  const even = sum([1, 3, 5, 7])
  // The difference may be negative; then -1 becomes 9.
  const tenth = (((odd * 7 - even) % 10) + 10) % 10
  return digits[9] === tenth && digits[10] === (odd + even + digits[9]!) % 10
}
