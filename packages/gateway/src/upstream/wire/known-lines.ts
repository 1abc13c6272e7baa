import { internalized, Patience } from '@sluice/core'
import { KnownBytes } from './known-bytes.js'

/** Fields of a head beyond these, and longer ones, are read anew each time, which bounds the memory. */
const PLACES = 32
const MAX_BYTES = 256

/**
 * The field lines of the heads that came before, by their place in the head: a target's responses are much alike. Bytes
 * that are those of a known line need not be judged again, and its name and value are the texts that were made then.
 */
export class KnownLines {
  readonly #bytes: (KnownBytes | undefined)[] = new Array<undefined>(PLACES).fill(undefined)
  readonly #names: string[] = new Array<string>(PLACES).fill('')
  readonly #values: string[] = new Array<string>(PLACES).fill('')
  readonly #patience = new Patience(PLACES)
  #statusLine: KnownBytes | null = null
  /** What the known status line says. */
  status = 0
  minor = 1

  /** How many bytes the known status line has, when they are the next ones; else 0. */
  matchStatusLine(bytes: Buffer, from: number, to: number): number {
    const line = this.#statusLine
    return line?.standAt(bytes, from, to) === true ? line.length : 0
  }

  /** @param line the whole line with its end, which is valid. */
  learnStatusLine(line: Buffer, status: number, minor: number): void {
    if (line.length > MAX_BYTES) return
    this.#statusLine = new KnownBytes(line)
    this.status = status
    this.minor = minor
  }

  /** How many bytes the line known for a place has, when they are the next ones; else 0. */
  match(place: number, bytes: Buffer, from: number, to: number): number {
    const line = place < PLACES ? this.#bytes[place] : undefined
    if (line?.standAt(bytes, from, to) !== true) return 0
    this.#patience.renew(place)
    return line.length
  }

  name(place: number): string {
    return this.#names[place]!
  }

  value(place: number): string {
    return this.#values[place]!
  }

  /** @param line the whole line with its end, which is valid. */
  learn(place: number, line: string, name: string, value: string): void {
    if (place >= PLACES || !this.#patience.isWorthKeeping(place) || line.length > MAX_BYTES) return
    this.#bytes[place] = new KnownBytes(Buffer.from(line, 'latin1'))
    this.#names[place] = internalized(name)
    this.#values[place] = internalized(value)
  }
}
