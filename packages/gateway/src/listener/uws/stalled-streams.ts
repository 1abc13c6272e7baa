/** uWS gives a connection without progress 10 s; a try every 4 s leaves room for one that comes late. */
const RETRY_MS = 4000

interface Stalled {
  retryStalled(): void
}

/** The responses of known length whose client does not read, and the uploads under way: each is tried again. */
export class StalledStreams {
  readonly #streams = new Set<Stalled>()
  #timer: NodeJS.Timeout | null = null

  add(stream: Stalled): void {
    this.#streams.add(stream)
    if (this.#timer !== null) return
    this.#timer = setInterval(() => this.#retry(), RETRY_MS)
    this.#timer.unref()
  }

  /** The timer goes on for its period: streams come and go with every upload. */
  remove(stream: Stalled): void {
    this.#streams.delete(stream)
  }

  #retry(): void {
    if (this.#streams.size === 0) {
      clearInterval(this.#timer!)
      this.#timer = null
      return
    }
    for (const stream of this.#streams) stream.retryStalled()
  }
}
