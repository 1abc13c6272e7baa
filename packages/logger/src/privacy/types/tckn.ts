import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const DIGITS = /(?<!\d|\d\.)[1-9](?:[\s\-.\u2010-\u2015]{0,2}\d){10}(?!\d)/g
const CUT = /(?<!\d|\d\.)[1-9]\d{4,9}$/

/** Numbers of Turkish identity cards with sound check digits. */
export function findTckns(text: string, isCut: boolean): Spans {
  DIGITS.lastIndex = 0
  let found: number[] | null = null
  for (let match = DIGITS.exec(text); match !== null; match = DIGITS.exec(text)) {
    if (isSound(match[0].replace(/\D/g, ''))) {
      found ??= []
      found.push(match.index, DIGITS.lastIndex)
    } else DIGITS.lastIndex = match.index + 1 // The number may begin with a later group.
  }
  const spans = found ?? NO_SPANS
  return isCut ? withCutEnd(spans, text, CUT, 12) : spans
}

function isSound(number: string): boolean {
  const digits = Array.from(number, Number)
  const sum = (places: readonly number[]): number => places.reduce((total, i) => total + digits[i]!, 0)
  const odd = sum([0, 2, 4, 6, 8])
  const even = sum([1, 3, 5, 7])
  // The difference may be negative: -1 stands for 9.
  const tenth = (((odd * 7 - even) % 10) + 10) % 10
  return digits[9] === tenth && digits[10] === (odd + even + digits[9]!) % 10
}
