import type { Reading } from './reading.js'
import { isDash, isInvisible, isSpace } from './separators.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const LEAST_DIGITS = 13
const MOST_DIGITS = 19
/** The most characters between two groups. */
const MOST_BETWEEN = 3
const MINUS_SIGN = 0x2212
const CUT = /(?<!\d|\d\.)\d(?:[^\dA-Za-z,:;"'{}[\]]{0,3}\d){5,18}[^\dA-Za-z,:;"'{}[\]]{0,3}$/
/** The groups in which cards print numbers; between these, anything may stand. */
const PRINTED: readonly (readonly number[])[] = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 4, 4, 3],
  [4, 4, 4, 5],
  [8, 8],
]
const PRINTED_WHOLE: ReadonlySet<number> = new Set(PRINTED.map((lengths) => lengths.reduce(longerShape, 0)))
const PRINTED_BEGUN: ReadonlySet<number> = new Set(
  PRINTED.flatMap((lengths) => lengths.map((_, last) => lengths.slice(0, last + 1).reduce(longerShape, 0))),
)

/** Payment card numbers (ISO/IEC 7812) with a sound check digit, in one piece or in groups. */
export function findCards({ text, digitRuns }: Reading, isCut: boolean): Spans {
  let spans: number[] | null = null
  // A run of groups may hold more than the number: `2 4111111111111111` does. Every group may be its first.
  for (let first = 0; first < digitRuns.length; first += 2) {
    const end = endOfNumber(text, digitRuns, first)
    if (end === -1) continue
    spans ??= []
    // Where two readings overlap, both go.
    if (digitRuns[first]! >= (spans.at(-1) ?? 0)) spans.push(digitRuns[first]!, end)
    else if (end > spans.at(-1)!) spans[spans.length - 1] = end
  }
  const found = spans ?? NO_SPANS
  return isCut ? withCutEnd(found, text, CUT, 80) : found
}

/** The end of the longest number that begins with this group, or -1. It takes as many steps as a number has digits. */
function endOfNumber(text: string, runs: readonly number[], first: number): number {
  const number = new GrowingNumber()
  let shape = 0
  let isLoose = true
  let found = -1
  for (let i = first; i < runs.length; i += 2) {
    const [start, end] = [runs[i]!, runs[i + 1]!]
    if (i > first) {
      if (start - runs[i - 1]! > MOST_BETWEEN) return found
      isLoose &&= isLooseBetween(text, runs[i - 1]!, start)
    }
    if (number.length + end - start > MOST_DIGITS) return found
    shape = longerShape(shape, end - start)
    if (!isLoose && !PRINTED_BEGUN.has(shape)) return found
    number.add(text, start, end)
    if (!number.mayBeOfScheme) return found
    const isGrouped = isLoose || PRINTED_WHOLE.has(shape)
    if (!isGrouped || number.length < LEAST_DIGITS || !number.isSound) continue
    // In one piece behind a decimal point it is a fraction.
    if (i > first || !isBehindPoint(text, start)) found = end
  }
  return found
}

/** Digits one after the other, with the check of Luhn for each length they have on the way. */
class GrowingNumber {
  length = 0
  /** The sums with every second digit doubled, from the first on and from the second on. */
  #fromFirst = 0
  #fromSecond = 0
  #beginning = 0

  add(text: string, start: number, end: number): void {
    for (let i = start; i < end; i++) {
      const digit = text.charCodeAt(i) - 48
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2
      const isOdd = this.length % 2 === 1
      this.#fromFirst += isOdd ? digit : doubled
      this.#fromSecond += isOdd ? doubled : digit
      if (this.length < 4) this.#beginning = this.#beginning * 10 + digit
      this.length++
    }
  }

  /** The first digits of the card schemes, Troy (9792) among them. What begins with 1 is mostly a time. */
  get mayBeOfScheme(): boolean {
    const digits = Math.min(this.length, 4)
    const first = Math.floor(this.#beginning / 10 ** (digits - 1))
    return (first >= 2 && first <= 6) || this.#beginning === Math.floor(9792 / 10 ** (4 - digits))
  }

  /** From the right, every second digit counts double; which one is the first from the left depends on the length. */
  get isSound(): boolean {
    return (this.length % 2 === 0 ? this.#fromFirst : this.#fromSecond) % 10 === 0
  }
}

/** The lengths of groups as one number, one group longer. */
function longerShape(shape: number, length: number): number {
  return shape * (MOST_DIGITS + 1) + length
}

/** What may stand between groups of any length: space, line breaks, dashes, and what nobody sees. */
function isLooseBetween(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (!isSpace(code) && !isDash(code) && !isInvisible(code) && code !== MINUS_SIGN) return false
  }
  return true
}

function isBehindPoint(text: string, at: number): boolean {
  if (text[at - 1] !== '.') return false
  const before = text.charCodeAt(at - 2)
  return before >= 48 && before <= 57
}
