import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const LEAST_DIGITS = 13
const MOST_DIGITS = 19
/** Digits with at most three other characters between them, as many as the shortest number has. */
const DIGITS = /\d(?:\D{0,3}\d){12,}/g
const CUT = /(?<!\d|\d\.)\d(?:[^\dA-Za-z,:;"'{}[\]]{0,3}\d){5,18}[^\dA-Za-z,:;"'{}[\]]{0,3}$/
/** What may stand between groups of any length: space, line breaks, dashes, and what nobody sees. */
const LOOSE = /^[\s\-\u00ad\u200b-\u200d\u2010-\u2015\u2060\u2212\ufeff]+$/
/** The groups in which cards print numbers; between these, anything may stand. */
const PRINTED: ReadonlySet<string> = new Set(['4444', '465', '464', '44443', '4445', '88'])
/** The first digits of the card schemes, Troy (9792) among them. What begins with 1 is mostly a time. */
const SCHEME = /^(?:[2-6]|9792)/

interface Group {
  readonly digits: string
  readonly start: number
  /** What stands between it and the group before may stand between groups of any length. */
  readonly isLoose: boolean
}

/** Payment card numbers (ISO/IEC 7812) with a sound check digit, in one piece or in groups. */
export function findCards(text: string, isCut: boolean): Spans {
  DIGITS.lastIndex = 0
  let spans: number[] | null = null
  for (let match = DIGITS.exec(text); match !== null; match = DIGITS.exec(text)) {
    spans ??= []
    addNumbers(spans, groupsOf(match[0], match.index), text)
  }
  const found = spans ?? NO_SPANS
  return isCut ? withCutEnd(found, text, CUT, 80) : found
}

function groupsOf(run: string, offset: number): readonly Group[] {
  let end = 0
  return Array.from(run.matchAll(/\d+/g), ({ 0: digits, index }) => {
    const isLoose = LOOSE.test(run.slice(end, index))
    end = index + digits.length
    return { digits, start: offset + index, isLoose }
  })
}

/** A run may hold more than the number: `2 4111111111111111` does. Every sequence of whole groups is tried. */
function addNumbers(spans: number[], groups: readonly Group[], text: string): void {
  for (let first = 0; first < groups.length; first++) {
    const last = lastGroup(groups, first, text)
    if (last === -1) continue
    const { digits, start } = groups[last]!
    const end = start + digits.length
    // Where two readings overlap, both go.
    if (groups[first]!.start >= (spans.at(-1) ?? 0)) spans.push(groups[first]!.start, end)
    else if (end > spans.at(-1)!) spans[spans.length - 1] = end
  }
}

/** The last group of the longest number that begins with group `first`, or -1. */
function lastGroup(groups: readonly Group[], first: number, text: string): number {
  let digits = ''
  let lengths = ''
  let isLoose = true
  let found = -1
  for (let i = first; i < groups.length; i++) {
    const group = groups[i]!
    digits += group.digits
    lengths += group.digits.length
    if (digits.length > MOST_DIGITS) return found
    if (i > first) isLoose &&= group.isLoose
    const isGrouped = isLoose || PRINTED.has(lengths)
    if (digits.length < LEAST_DIGITS || !isGrouped || !SCHEME.test(digits) || !isLuhn(digits)) continue
    // In one piece behind a decimal point it is a fraction.
    if (i === first && /\d\.$/.test(text.slice(Math.max(0, group.start - 2), group.start))) continue
    found = i
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
