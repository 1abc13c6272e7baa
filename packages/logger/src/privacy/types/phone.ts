import { matchingSpans, type Spans, withCutEnd } from './spans.js'

/** With the country's code, a Turkish number with the 0 of the trunk, a North American one. */
const NUMBER = new RegExp(
  [
    '(?<![\\w+])(?:\\+|00)[1-9](?:[\\s().\\-/\\u2010-\\u2015]{0,3}\\d){6,14}(?!\\d)',
    '(?<![\\w.+])\\(?0[2-5]\\d{2}\\)?[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{3}[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{2}[\\s.\\-/\\u2010-\\u2015]{0,3}\\d{2}(?!\\d)',
    '(?<![\\w.+])(?:\\([2-9]\\d{2}\\)[\\s.\\-]{0,3}|[2-9]\\d{2}[\\s.\\-/\\u2010-\\u2015]{1,3})[2-9]\\d{2}[\\s.\\-/\\u2010-\\u2015]{1,3}\\d{4}(?!\\d)',
  ].join('|'),
  'g',
)
const CUT = /(?<![\w+])(?:\+|00)[1-9][\d ().-]{3,20}$/

/** Telephone numbers: international ones, Turkish and North American ones as they are written at home. */
export function findPhones(text: string, isCut: boolean): Spans {
  const spans = matchingSpans(text, NUMBER, () => true)
  return isCut ? withCutEnd(spans, text, CUT, 24) : spans
}
