/** Retry interval in milliseconds. uWS closes a connection without progress for 10 s, so one retry may be late. */
const RETRY_MS = 4000

/** A stream to retry. The link fields belong to the list. */
export interface Stalled {
  stalledNext: Stalled | null
  stalledPrevious: Stalled | null
  isStalled: boolean
  retryStalled(): void
}

/**
 * Retries responses of known length whose client does not read, and uploads in progress. Most uploads start and end
 * within one turn, so this is a linked list: a Set would cost more than all their bytes.
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

  /** Removes a stream. The timer runs until its next tick. */
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
    // Retrying one stream may end another.
    for (const stream of streams) if (stream.isStalled) stream.retryStalled()
  }
}
