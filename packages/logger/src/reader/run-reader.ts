import type { SegmentFile } from '../writer/segment-name.js'
import { LineSplitter } from './line-splitter.js'
import { bytesAt, type Run } from './runs.js'

/** Number of bytes read at a time. */
const CHUNK_BYTES = 256 * 1024

/** A position between two lines of a run. */
export interface RunPosition {
  readonly seq: number
  readonly offset: number
}

/** Reads a run across its segments while it grows and its oldest segments are deleted. */
export class RunReader {
  #seq: number
  #offset: number
  readonly #splitter = new LineSplitter()

  constructor(from: RunPosition) {
    this.#seq = from.seq
    this.#offset = from.offset
  }

  /** Returns the next lines. @param run Current state of the run. */
  async read(run: Run): Promise<string[]> {
    const cut: string[] = []
    const segment = this.#current(run, cut)
    if (segment === null) return cut
    // The file was truncated, so continue at its new end.
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

  /** Returns true if the run contains more than was read. @param run Current state of the run. */
  hasMore(run: Run): boolean {
    const last = run.segments.at(-1)!
    return last.seq > this.#seq || (last.seq === this.#seq && last.bytes > this.#offset)
  }

  /**
   * Returns the segment to read, or null if none is left. Continues with the next segment if the current one
   * is finished or was deleted.
   */
  #current(run: Run, cut: string[]): SegmentFile | null {
    const index = run.segments.findIndex((segment) => segment.seq >= this.#seq)
    if (index === -1) return null
    const segment = run.segments[index]!
    const next = run.segments[index + 1]
    const isCurrent = segment.seq === this.#seq
    if (isCurrent && (next === undefined || segment.bytes > this.#offset)) return segment
    const following = isCurrent ? next! : segment
    // An incomplete line in a closed segment was truncated when its writer was killed.
    const rest = this.#splitter.takeRest()
    if (rest !== null) cut.push(rest)
    this.#seq = following.seq
    this.#offset = 0
    return following
  }
}
