import type { Reading } from './reading.js'
import { isDash, isInvisible, isSpace } from './separators.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

/** Maximum number of characters between two groups. */
const MAX_SEPARATORS = 3
const HYPHEN = 45
const POINT = 46
const SLASH = 47
const UNDERSCORE = 95
const LAST_OF_IBAN = 110
const MINUS_SIGN = 0x2212
const CUT = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[\s\-./_]{0,3}[A-Za-z0-9]){2,30}$/
/** Lengths by country, from the ISO 13616 registry. */
const LENGTHS =
  'AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27' +
  'GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22' +
  'MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28' +
  'TL23TN24TR26UA29VA22VG24XK20YE30'
const LENGTH_OF: ReadonlyMap<string, number> = new Map(
  [...LENGTHS.matchAll(/([A-Z]{2})(\d{2})/g)].map((match) => [match[1]!, Number(match[2])]),
)

/**
 * Finds international bank account numbers (ISO 13616) with the length of their country and a valid checksum.
 */
export function findIbans({ text, digitRuns }: Reading, isCut: boolean): Spans {
  let spans: number[] | null = null
  for (let i = 0; i < digitRuns.length; i += 2) {
    const start = startOfNumber(text, digitRuns[i]!, digitRuns[i + 1]!)
    if (start < (spans?.at(-1) ?? 0)) continue
    const end = endOfNumber(text, start)
    if (end === -1) continue
    spans ??= []
    spans.push(start, end)
  }
  const found = spans ?? NO_SPANS
  return isCut ? withCutEnd(found, text, CUT, 70) : found
}

/** Returns the position of the country code before these digits, or -1. */
function startOfNumber(text: string, from: number, to: number): number {
  if (to - from < 2) return -1
  let end = from
  while (end > 0 && from - end < MAX_SEPARATORS && isBeforeCheck(text.charCodeAt(end - 1))) end--
  const start = end - 2
  if (start < 0 || !isLetter(text.charCodeAt(end - 1)) || !isLetter(text.charCodeAt(start))) return -1
  if (start === 0 || !isLetterOrDigit(text.charCodeAt(start - 1))) return start
  // Fast path: most words are longer than the country code, so check for the last letter of `iban` first.
  if ((text.charCodeAt(start - 1) | 32) !== LAST_OF_IBAN) return -1
  return text.slice(Math.max(0, start - 4), start).toLowerCase() === 'iban' ? start : -1
}

function isBeforeCheck(code: number): boolean {
  return isSpace(code) || code === HYPHEN || code === POINT || code === SLASH || code === UNDERSCORE
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

function isLetterOrDigit(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57)
}

function isBetween(code: number): boolean {
  return isBeforeCheck(code) || isDash(code) || isInvisible(code) || code === MINUS_SIGN
}

/** Returns the end of the account number that starts here, or -1. */
function endOfNumber(text: string, start: number): number {
  const length = LENGTH_OF.get(text.slice(start, start + 2).toUpperCase())
  if (length === undefined) return -1
  let number = ''
  let between = 0
  let at = start
  for (; at < text.length && number.length < length; at++) {
    const code = text.charCodeAt(at)
    if (isLetterOrDigit(code)) {
      number += text[at]
      between = 0
    } else if (++between > MAX_SEPARATORS || !isBetween(code)) return -1
  }
  // The next character does not matter. A currency code may follow directly.
  return number.length === length && hasValidChecksum(number.toUpperCase()) ? at : -1
}

/**
 * Verifies the ISO 7064 MOD 97-10 checksum: the first four characters go to the end, letters become numbers
 * from 10 on.
 */
function hasValidChecksum(number: string): boolean {
  let rest = 0
  for (const character of number.slice(4) + number.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
