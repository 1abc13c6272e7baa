import type { Reading } from './reading.js'
import { matchingSpans, NO_SPANS, type Spans, withCutEnd } from './spans.js'

/**
 * Start of a number: not in the middle of a word or number. An opening parenthesis may start one anywhere.
 */
const START = '(?:(?=\\()|(?<![\\w.+]))'

/**
 * Matches international numbers, Turkish, British and French numbers with trunk prefix 0, and North American
 * numbers.
 */
const NUMBER = new RegExp(
  // The look-ahead rejects most positions quickly.
  `(?=[+(\\d])(?:${[
    '(?<![\\w+])(?:\\+|00)[1-9](?:[\\s().\\-/\\u2010-\\u2015]{0,3}\\d){6,14}(?!\\d)',
    `${START}\\(?0[2-5]\\d{2}\\)?[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{3}[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{2}[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{2}(?!\\d)`,
    `${START}(?:0[1-9](?:[\\s.\\-\\u2010-\\u2015]\\d{2}){4}|\\(?0\\d{2}\\)?[\\s.\\-]{1,3}\\d{4}[\\s.\\-]{0,3}\\d{4}|\\(?0\\d{3}\\)?[\\s.\\-]{1,3}\\d{3}[\\s.\\-]{0,3}\\d{4}|\\(?0\\d{4}\\)?[\\s.\\-]{1,3}\\d{3}[\\s.\\-]{0,3}\\d{3})(?!\\d)`,
    `${START}(?:\\([2-9]\\d{2}\\)[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{3}[\\s.\\-/\\u2010-\\u2015]{0,3}|[2-9]\\d{2}[\\s.\\-/\\u2010-\\u2015]{1,3}\\d{3}[\\s.\\-/\\u2010-\\u2015]{1,3})\\d{4}(?!\\d)`,
  ].join('|')})`,
  'g',
)
const CUT = /(?<![\w+])(?:\+|00)[1-9][\d ().-]{3,20}$/

/**
 * Finds phone numbers: international, and Turkish, British, French and North American numbers in national
 * format.
 */
export function findPhones({ text, hasDigits }: Reading, isCut: boolean): Spans {
  const spans = hasDigits ? matchingSpans(text, NUMBER) : NO_SPANS
  return isCut ? withCutEnd(spans, text, CUT, 24) : spans
}
