/** An HTTP/2 request that waits to be dispatched. */
export interface WaitingStream {
  dispatch(): void
  /** Resets the stream before its request has started. */
  refuse(): void
}

/** Time that a listener spends on new requests per turn of the event loop, in milliseconds. */
const TURN_MS = 10
/**
 * Maximum number of waiting requests. Further ones are refused, and the client may repeat them (RFC 9113 section 8.7).
 */
const MAX_WAITING = 1000

/** Number of requests refused by all listeners of this process. */
export const REFUSED_STREAMS = { count: 0 }

/**
 * Spreads new requests over turns of the event loop. One read from each of many connections may bring 100 requests.
 * Processed at once, they would block the worker's other listeners for seconds.
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

  /** Runs waiting requests at the start of a turn. @internal */
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
