import { type Origins, originOf, withoutEscapes } from './escapes.js'

/** Interpretation of a text: as written, or with its escapes decoded. */
export interface Reading {
  /** The text, with look-alike characters replaced by ASCII. */
  readonly text: string
  /** True if it contains adjacent digits. Texts without them are not searched for numbers. */
  readonly hasDigits: boolean
  /** Positions of its characters in the previous reading. Null for the text as written. */
  readonly origins: Origins | null
}

/** Maximum number of nested escape layers that are decoded. */
const MAX_LAYERS = 3
/** Distance between full-width characters and the ASCII characters they resemble. */
const FULL_WIDTH = 0xfee0
/** Code points of the digit zero in other scripts: Arabic, Persian, Devanagari, Bengali, Thai. */
const ZEROS: readonly number[] = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50]
const FOREIGN = /[\uff01-\uff5e\u3002\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59]/g

const DIGITS = /\d\d/

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
  return { text, hasDigits: DIGITS.test(text), origins }
}

/** Replaces characters that resemble ASCII by ASCII, unit by unit, so that positions do not change. */
function asciiForm(text: string): string {
  return text.replace(FOREIGN, (one) => {
    const code = one.charCodeAt(0)
    if (code === 0x3002) return '.'
    if (code >= 0xff01) return String.fromCharCode(code - FULL_WIDTH)
    const zero = ZEROS.findLast((first) => first <= code)!
    return String.fromCharCode(code - zero + 48)
  })
}
