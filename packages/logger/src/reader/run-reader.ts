import { LineSplitter } from './line-splitter.js'
import type { Run, Segment } from './runs.js'
import { bytesAt } from './segment-bytes.js'

/** Read at once, bytes. */
const CHUNK_BYTES = 256 * 1024

/** A position between two lines of a run. */
export interface RunPosition {
  readonly seq: number
  readonly offset: number
}

/** Reads a run from segment to segment while it grows, and while its oldest segments are deleted. */
export class RunReader {
  #seq: number
  #offset: number
  readonly #splitter = new LineSplitter()

  constructor(from: RunPosition) {
    this.#seq = from.seq
    this.#offset = from.offset
  }

  /** The next lines of the run; `run` is the run as it was just listed. */
  async read(run: Run): Promise<string[]> {
    const cut: string[] = []
    const segment = this.#current(run, cut)
    if (segment === null) return cut
    // Truncated by somebody: the writer goes on at its new end.
    if (segment.bytes < this.#offset) {
      this.#offset = 0
      this.#splitter.takeRest()
    }
    if (segment.bytes === this.#offset) return cut
    const wanted = Math.min(CHUNK_BYTES, segment.bytes - this.#offset)
    const bytes = await bytesAt(segment.path, this.#offset, wanted)
    this.#offset += bytes.length
    return cut.concat(this.#splitter.push(bytes))
  }

  /** Whether the run, as it was listed, holds more than was read. */
  hasMore(run: Run): boolean {
    const last = run.segments.at(-1)!
    return last.seq > this.#seq || (last.seq === this.#seq && last.bytes > this.#offset)
  }

  /** The segment to read from: the next one when this one is read to its end or was deleted; null when none is left. */
  #current(run: Run, cut: string[]): Segment | null {
    const index = run.segments.findIndex((segment) => segment.seq >= this.#seq)
    if (index === -1) return null
    const segment = run.segments[index]!
    const next = run.segments[index + 1]
    const isCurrent = segment.seq === this.#seq
    if (isCurrent && (next === undefined || segment.bytes > this.#offset)) return segment
    const following = isCurrent ? next! : segment
    // A line without an end in a segment that is closed was cut when its writer was killed.
    const rest = this.#splitter.takeRest()
    if (rest !== null) cut.push(rest)
    this.#seq = following.seq
    this.#offset = 0
    return following
  }
}
