import type { Reading } from './reading.js'
import { DASHES, INVISIBLE, NO_SPANS, type Spans, withCutEnd } from './spans.js'

/** Country code and check digits. */
const START = /[A-Za-z]{2}[\s\-./_]{0,3}\d{2}/g
/** Text before a number. Only the word `IBAN` may precede it immediately. */
const BEFORE = /(?:^|[^A-Za-z0-9]|iban)$/i
const BETWEEN = `[\\s./_${DASHES}${INVISIBLE}\\u2212]{0,3}`
/** The first characters of a number, searched for from its check digits, because letters are frequent. */
const MAY_HOLD = new RegExp(`\\d{2}(?<=[A-Za-z]{2}[\\s\\-./_]{0,3}\\d{2})(?:${BETWEEN}[A-Z0-9]){11}`, 'i')
const CUT = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[\s\-./_]{0,3}[A-Za-z0-9]){2,30}$/
/** Lengths by country, from the ISO 13616 registry. */
const LENGTHS =
  'AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27' +
  'GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22' +
  'MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28' +
  'TL23TN24TR26UA29VA22VG24XK20YE30'
/** Matches a number of a country. The next character does not matter: a currency code may follow directly. */
const NUMBER_OF: ReadonlyMap<string, RegExp> = new Map(
  [...LENGTHS.matchAll(/([A-Z]{2})(\d{2})/g)].map(([, country, length]) => [
    country!,
    new RegExp(`[A-Z]{2}(?:${BETWEEN}[A-Z0-9]){${Number(length) - 2}}`, 'iy'),
  ]),
)

/**
 * Finds international bank account numbers (ISO 13616) with the length of their country and a valid checksum.
 */
export function findIbans({ text }: Reading, isCut: boolean): Spans {
  const spans = MAY_HOLD.test(text) ? ibanSpans(text) : NO_SPANS
  return isCut ? withCutEnd(spans, text, CUT, 70) : spans
}

function ibanSpans(text: string): Spans {
  const spans: number[] = []
  START.lastIndex = 0
  for (let start = START.exec(text); start !== null; start = START.exec(text)) {
    const pattern = NUMBER_OF.get(start[0].slice(0, 2).toUpperCase())
    if (pattern === undefined || !BEFORE.test(text.slice(Math.max(0, start.index - 4), start.index))) continue
    pattern.lastIndex = start.index
    const number = pattern.exec(text)
    if (number === null || !hasValidChecksum(number[0])) continue
    spans.push(start.index, pattern.lastIndex)
    START.lastIndex = pattern.lastIndex
  }
  return spans
}

/**
 * Verifies the ISO 7064 MOD 97-10 checksum: the first four characters go to the end, letters become numbers
 * from 10 on.
 */
function hasValidChecksum(written: string): boolean {
  const number = written.replace(/[^A-Za-z0-9]/g, '')
  let rest = 0
  for (const character of number.slice(4) + number.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
