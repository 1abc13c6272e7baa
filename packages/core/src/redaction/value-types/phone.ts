import type { Reading } from './reading.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

/**
 * Start of a number: not in the middle of a word or number. An opening parenthesis may start one anywhere.
 */
const START = '(?:(?=\\()|(?<![\\w.+]))'

/**
 * Matches international numbers, Turkish, British and French numbers with trunk prefix 0, and North American
 * numbers.
 */
const NUMBER = new RegExp(
  [
    '(?<![\\w+])(?:\\+|00)[1-9](?:[\\s().\\-/\\u2010-\\u2015]{0,3}\\d){6,14}(?!\\d)',
    `${START}\\(?0[2-5]\\d{2}\\)?[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{3}[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{2}[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{2}(?!\\d)`,
    `${START}(?:0[1-9](?:[\\s.\\-\\u2010-\\u2015]\\d{2}){4}|\\(?0\\d{2}\\)?[\\s.\\-]{1,3}\\d{4}[\\s.\\-]{0,3}\\d{4}|\\(?0\\d{3}\\)?[\\s.\\-]{1,3}\\d{3}[\\s.\\-]{0,3}\\d{4}|\\(?0\\d{4}\\)?[\\s.\\-]{1,3}\\d{3}[\\s.\\-]{0,3}\\d{3})(?!\\d)`,
    `${START}(?:\\([2-9]\\d{2}\\)[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{3}[\\s.\\-/\\u2010-\\u2015]{0,3}|[2-9]\\d{2}[\\s.\\-/\\u2010-\\u2015]{1,3}\\d{3}[\\s.\\-/\\u2010-\\u2015]{1,3})\\d{4}(?!\\d)`,
  ].join('|'),
  'y',
)
const CUT = /(?<![\w+])(?:\+|00)[1-9][\d ().-]{3,20}$/

const PLUS = 43
const OPENING = 40
const ZERO = 48
const ONE = 49

/**
 * Finds phone numbers: international, and Turkish, British, French and North American numbers in national
 * format.
 */
export function findPhones({ text, digitRuns }: Reading, isCut: boolean): Spans {
  let found: number[] | null = null
  for (let i = 0; i < digitRuns.length; i += 2) {
    const start = digitRuns[i]!
    if (start < (found?.at(-1) ?? 0) || !mayBegin(text, start, digitRuns[i + 1]!)) continue
    const at = matchAt(text, start - 1) ? start - 1 : start
    if (at === start && !matchAt(text, start)) continue
    found ??= []
    found.push(at, NUMBER.lastIndex)
  }
  const spans = found ?? NO_SPANS
  return isCut ? withCutEnd(spans, text, CUT, 24) : spans
}

/** Returns true if one of the formats can start with these digits. Rejects most other numbers quickly. */
function mayBegin(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start - 1) === PLUS) return true
  const first = text.charCodeAt(start)
  return first === ZERO ? end - start > 1 : end - start === 3 && first > ONE
}

function matchAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  NUMBER.lastIndex = at
  return (code === PLUS || code === OPENING || (code >= 48 && code <= 57)) && NUMBER.test(text)
}
