import { asciiForm } from './ascii-form.js'
import { type Origins, originOf, withoutEscapes } from './escapes.js'

/** Interpretation of a text: as written, or with its escapes decoded. */
export interface Reading {
  /** The text, with look-alike characters replaced by ASCII. */
  readonly text: string
  /** Positions of digit runs as start and end pairs. Empty for most texts, which contain no numbers. */
  readonly digitRuns: readonly number[]
  /** Digit runs that are close enough to others to be groups of a long number. */
  readonly longRuns: readonly number[]
  /** Positions of its characters in the previous reading. Null for the text as written. */
  readonly origins: Origins | null
}

/** Maximum number of nested escape layers that are decoded. */
const MAX_LAYERS = 3
/**
 * Maximum number of characters between two groups, and minimum number of digits of a grouped number. Shorter
 * numbers are found with regular expressions.
 */
const MAX_SEPARATORS = 3
const MIN_DIGITS = 11
const DIGIT = /[0-9]/g
const NO_RUNS: readonly number[] = []

/** Cache of the last text, because each value type reads the same text in turn. */
let lastText = ''
let lastReadings: readonly Reading[] = [readingOf('', null)]

/**
 * Returns all readings of a text. The first is the text as written. Each of the others is decoded from the
 * one before.
 */
export function readingsOf(text: string): readonly Reading[] {
  if (text === lastText) return lastReadings
  const readings = [readingOf(text, null)]
  let undone = withoutEscapes(text)
  while (undone !== null) {
    readings.push(readingOf(undone.text, undone.origins))
    undone = readings.length > MAX_LAYERS ? null : withoutEscapes(undone.text)
  }
  lastText = text
  lastReadings = readings
  return readings
}

/** Converts a position in a reading to a position in the text as written. */
export function writtenAt(readings: readonly Reading[], layer: number, position: number): number {
  let at = position
  for (let i = layer; i > 0; i--) at = originOf(readings[i]!.origins!, at)
  return at
}

function readingOf(written: string, origins: Origins | null): Reading {
  const text = Buffer.byteLength(written) === written.length ? written : asciiForm(written)
  const digitRuns = runsOfDigits(text)
  return { text, digitRuns, longRuns: digitRuns.length === 0 ? NO_RUNS : longRuns(digitRuns), origins }
}

function runsOfDigits(text: string): readonly number[] {
  DIGIT.lastIndex = 0
  if (!DIGIT.test(text)) return NO_RUNS
  const first = DIGIT.lastIndex - 1
  const runs = [first]
  let isWithin = true
  for (let i = first + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isDigit = code >= 48 && code <= 57
    if (isDigit === isWithin) continue
    runs.push(i)
    isWithin = isDigit
  }
  if (isWithin) runs.push(text.length)
  return runs
}

function longRuns(runs: readonly number[]): readonly number[] {
  let long: number[] | null = null
  for (let first = 0; first < runs.length; ) {
    let digits = runs[first + 1]! - runs[first]!
    let next = first + 2
    while (next < runs.length && runs[next]! - runs[next - 1]! <= MAX_SEPARATORS) {
      digits += runs[next + 1]! - runs[next]!
      next += 2
    }
    if (digits >= MIN_DIGITS) {
      long ??= []
      for (let i = first; i < next; i++) long.push(runs[i]!)
    }
    first = next
  }
  return long ?? NO_RUNS
}
