import { asciiForm } from './ascii-form.js'
import { type Origins, originOf, withoutEscapes } from './escapes.js'

/** A text as somebody may read it: as it is written, or with its escapes undone. */
export interface Reading {
  /** With ASCII in the place of its look-alikes. */
  readonly text: string
  /** Where digits stand: from `[0]` to `[1]`, from `[2]` to `[3]`, … Most texts have none, and hold no number then. */
  readonly digitRuns: readonly number[]
  /** Those of them that stand so close together that they may be the groups of a long number. */
  readonly longRuns: readonly number[]
  /** Where its characters stand in the reading it was made of; null in the one as it is written. */
  readonly origins: Origins | null
}

/** An escape may itself be escaped, at most so often. */
const MOST_LAYERS = 3
/** The most characters between two groups of a number, and the least digits that need groups; others are short enough for expressions. */
const MOST_BETWEEN = 3
const LEAST_DIGITS = 11
const DIGIT = /[0-9]/g
const NO_RUNS: readonly number[] = []

/** The rules ask for the same text one after the other, each for its own type. */
let lastText = ''
let lastReadings: readonly Reading[] = [readingOf('', null)]

/** All readings of a text; the first is the text as it is written, each other one is made of the one before. */
export function readingsOf(text: string): readonly Reading[] {
  if (text === lastText) return lastReadings
  const readings = [readingOf(text, null)]
  let undone = withoutEscapes(text)
  while (undone !== null) {
    readings.push(readingOf(undone.text, undone.origins))
    undone = readings.length > MOST_LAYERS ? null : withoutEscapes(undone.text)
  }
  lastText = text
  lastReadings = readings
  return readings
}

/** Where in the written text that stands which a reading has at this position. */
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
    while (next < runs.length && runs[next]! - runs[next - 1]! <= MOST_BETWEEN) {
      digits += runs[next + 1]! - runs[next]!
      next += 2
    }
    if (digits >= LEAST_DIGITS) {
      long ??= []
      for (let i = first; i < next; i++) long.push(runs[i]!)
    }
    first = next
  }
  return long ?? NO_RUNS
}
