/**
 * Templates of records. A template is JSON in printable ASCII with holes, and is shared by many records (see
 * `SharedTexts`). A record consists of templates, each followed by the values of its holes in order:
 *
 *     record    = 1*( template value* )
 *     template  = position in the shared texts, or INLINE and a text
 *     value     = number (u32), number (INLINE and f64), or text
 *     text      = length u32, bytes in printable ASCII, padding to a multiple of 4
 *
 * Everything is a multiple of four bytes, in the byte order of the machine. The request path writes only values, which is
 * cheaper than writing JSON. The log thread knows no members of a record, only holes.
 */
export const HOLE = {
  /** A text, which is copied as it is. */
  text: '\x01',
  /** A number in decimal. */
  count: '\x02',
  /** Microseconds, written in milliseconds with up to three decimals. */
  micros: '\x03',
  /** Milliseconds since the epoch, written as ISO 8601. */
  instant: '\x04',
  /** A duration for each phase: a bit mask of the phases, then microseconds. */
  phases: '\x05',
} as const

/** Largest size of a hole's value that is no text: durations of all phases. */
const MAX_HOLE_BYTES = 512
const OPTIONAL = '\x06'
const FLAG = '\x07'
const END = '\x08'

/** Returns a hole for a number. If it is not 0, it is written after a text. */
export function optionalCount(text: string): string {
  return `${OPTIONAL}${text}${END}`
}

/** Returns a hole for a number. If it is not 0, the text is written, without the number. */
export function flag(text: string): string {
  return `${FLAG}${text}${END}`
}

/** Stands before a template or number that does not fit in a u32. */
export const INLINE = 0xffff_ffff

/** A template prepared for writing: literal texts and the holes after them. */
export interface Template {
  /** One more than holes. */
  readonly texts: readonly Uint8Array[]
  readonly holes: readonly Hole[]
  /** Size of all texts, and of the largest numbers in the holes, in bytes. */
  readonly bytes: number
}

/** Kinds of holes: the codes of their marks. */
export const KIND = { text: 1, count: 2, micros: 3, instant: 4, phases: 5, optional: 6, flag: 7 } as const

/** A hole. `text` is empty unless it is optional. */
export interface Hole {
  readonly kind: number
  readonly text: Uint8Array
}

const HOLES = /([\x01-\x05])|([\x06\x07])([^\x08]*)\x08/

/** Prepares a template. */
export function templateOf(text: string): Template {
  // Each match adds its three groups between the texts.
  const pieces = text.split(HOLES)
  const texts: Uint8Array[] = []
  const holes: Hole[] = []
  for (let i = 0; i < pieces.length; i += 4) {
    texts.push(bytesOf(pieces[i]!))
    if (i + 3 >= pieces.length) break
    const mark = pieces[i + 1] ?? pieces[i + 2]!
    holes.push({ kind: mark.charCodeAt(0), text: bytesOf(pieces[i + 3] ?? '') })
  }
  return { texts, holes, bytes: text.length + holes.length * MAX_HOLE_BYTES }
}

/** Copies a text to memory of its own. */
function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}
