/** uWS gives a connection without progress 10 s; a try every 4 s leaves room for one that comes late. */
const RETRY_MS = 4000

/** A stream that is tried again. The links belong to the list. */
export interface Stalled {
  stalledNext: Stalled | null
  stalledPrevious: Stalled | null
  isStalled: boolean
  retryStalled(): void
}

/**
 * The responses of known length whose client does not read, and the uploads under way: each is tried again. Every upload
 * comes and goes, most within one turn, so they are linked to each other: a set of them is more work than all their bytes.
 */
export class StalledStreams {
  #first: Stalled | null = null
  #timer: NodeJS.Timeout | null = null

  add(stream: Stalled): void {
    if (stream.isStalled) return
    const first = this.#first
    stream.isStalled = true
    stream.stalledNext = first
    if (first !== null) first.stalledPrevious = stream
    this.#first = stream
    if (this.#timer !== null) return
    this.#timer = setInterval(() => this.#retry(), RETRY_MS)
    this.#timer.unref()
  }

  /** The timer goes on for its period. */
  remove(stream: Stalled): void {
    if (!stream.isStalled) return
    const { stalledNext: next, stalledPrevious: previous } = stream
    if (previous === null) this.#first = next
    else previous.stalledNext = next
    if (next !== null) next.stalledPrevious = previous
    stream.isStalled = false
    stream.stalledNext = null
    stream.stalledPrevious = null
  }

  #retry(): void {
    if (this.#first === null) {
      clearInterval(this.#timer!)
      this.#timer = null
      return
    }
    const streams: Stalled[] = []
    for (let each: Stalled | null = this.#first; each !== null; each = each.stalledNext) streams.push(each)
    // One that is tried may end another.
    for (const stream of streams) if (stream.isStalled) stream.retryStalled()
  }
}
