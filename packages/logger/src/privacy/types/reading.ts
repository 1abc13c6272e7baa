import { asciiForm } from './ascii-form.js'
import { type Origins, originOf, withoutEscapes } from './escapes.js'

/** A text as somebody may read it: as it is written, or with its escapes undone. */
export interface Reading {
  /** With ASCII in the place of its look-alikes. */
  readonly text: string
  /** Where digits stand: from `[0]` to `[1]`, from `[2]` to `[3]`, … Most texts have none, and hold no number then. */
  readonly digitRuns: readonly number[]
  /** Where its characters stand in the reading it was made of; null in the one as it is written. */
  readonly origins: Origins | null
}

/** What one look at each character tells, so that no expression has to go through a text that has nothing for it. */
interface Look {
  readonly digitRuns: readonly number[]
  readonly isAscii: boolean
  readonly mayEscape: boolean
}

/** An escape may itself be escaped, at most so often. */
const MOST_LAYERS = 3
const NO_RUNS: readonly number[] = []
const PERCENT = 37
const AMPERSAND = 38
const BACKSLASH = 92

/** The rules ask for the same text one after the other, each for its own type. */
let lastText = ''
let lastReadings: readonly Reading[] = [{ text: '', digitRuns: NO_RUNS, origins: null }]

/** All readings of a text; the first is the text as it is written, each other one is made of the one before. */
export function readingsOf(text: string): readonly Reading[] {
  if (text === lastText) return lastReadings
  const look = lookAt(text)
  const readings = [readingOf(text, look, null)]
  if (look.mayEscape) addLayers(readings, text)
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

function addLayers(readings: Reading[], written: string): void {
  let text = written
  for (let layer = 0; layer < MOST_LAYERS; layer++) {
    const undone = withoutEscapes(text)
    if (undone === null) return
    text = undone.text
    readings.push(readingOf(text, lookAt(text), undone.origins))
  }
}

function readingOf(text: string, look: Look, origins: Origins | null): Reading {
  if (look.isAscii) return { text, digitRuns: look.digitRuns, origins }
  const ascii = asciiForm(text)
  return { text: ascii, digitRuns: ascii === text ? look.digitRuns : lookAt(ascii).digitRuns, origins }
}

function lookAt(text: string): Look {
  let digitRuns: number[] | null = null
  let isAscii = true
  let mayEscape = false
  let isWithin = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isDigit = code >= 48 && code <= 57
    if (isDigit !== isWithin) {
      digitRuns ??= []
      digitRuns.push(i)
      isWithin = isDigit
    }
    if (code > 127) isAscii = false
    else if (code === PERCENT || code === AMPERSAND || code === BACKSLASH) mayEscape = true
  }
  if (isWithin) digitRuns!.push(text.length)
  return { digitRuns: digitRuns ?? NO_RUNS, isAscii, mayEscape }
}
