/** uWS gives a connection without progress 10 s; a try every 4 s leaves room for one that comes late. */
const RETRY_MS = 4000

interface Stalled {
  retryStalled(): void
}

/** The responses of known length whose client does not read, and the uploads that we hold back: each is tried again. */
export class StalledStreams {
  readonly #streams = new Set<Stalled>()
  #timer: NodeJS.Timeout | null = null

  add(stream: Stalled): void {
    this.#streams.add(stream)
    this.#timer ??= setInterval(() => this.#retry(), RETRY_MS)
  }

  remove(stream: Stalled): void {
    if (this.#streams.size === 0 || !this.#streams.delete(stream) || this.#streams.size > 0) return
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #retry(): void {
    for (const stream of this.#streams) stream.retryStalled()
  }
}
