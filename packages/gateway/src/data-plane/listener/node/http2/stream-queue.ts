/** A request of an HTTP/2 connection that waits to be dispatched. */
export interface WaitingStream {
  dispatch(): void
  /** Resets the stream before its request is begun. */
  refuse(): void
}

/** Time that a listener spends on new requests in one turn of the event loop, ms. */
const TURN_MS = 10
/** Requests that wait for a later turn. More are refused, and the client may repeat them (RFC 9113 section 8.7). */
const MAX_WAITING = 1000

/** Number of requests that all listeners of this process have refused. */
export const REFUSED_STREAMS = { count: 0 }

/**
 * Spreads new requests over turns of the event loop. One read of each of many connections may bring 100 requests, and all
 * of them together would hold up the other listeners of the worker for seconds.
 */
export class StreamQueue {
  readonly #now: () => number
  #waiting: WaitingStream[] = []
  #spentMs = 0
  #startedMono = 0
  #isScheduled = false

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Returns true if a request may be dispatched at once; `end` must follow. Otherwise it has to wait. */
  begin(): boolean {
    if (this.#waiting.length > 0 || this.#spentMs >= TURN_MS) return false
    this.#schedule()
    this.#startedMono = this.#now()
    return true
  }

  end(): void {
    this.#spentMs += this.#now() - this.#startedMono
  }

  /** Dispatches the request in a later turn, or refuses it. */
  wait(stream: WaitingStream): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(stream)
    else {
      REFUSED_STREAMS.count++
      stream.refuse()
    }
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(beginTurn, this)
  }

  /** @internal */
  beginTurn(): void {
    this.#isScheduled = false
    this.#spentMs = 0
    this.#startedMono = this.#now()
    let taken = 0
    while (taken < this.#waiting.length && this.#now() - this.#startedMono < TURN_MS)
      this.#waiting[taken++]!.dispatch()
    if (taken === 0) return
    this.end()
    this.#waiting = this.#waiting.slice(taken)
    if (this.#waiting.length > 0) this.#schedule()
  }
}

function beginTurn(queue: StreamQueue): void {
  queue.beginTurn()
}
