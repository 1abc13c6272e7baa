import type { Queued } from '../transport/attempt-queue.js'
import { FAILURES } from '../transport/failure.js'
import type { Opening } from '../transport/opening.js'
import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from '../transport/transport.js'
import type { H2Connection } from './h2-connection.js'
import type { H2Stream } from './h2-stream.js'
import { encodeRequest } from './request-fields.js'

/** Owner of an attempt that has no stream. */
export interface H2Owner {
  /** Called when an attempt is abandoned before it has a stream. */
  onAbandoned(attempt: H2Attempt): void
}

/**
 * A request as a stream of an HTTP/2 connection:
 *
 *     queued ─► at a connection that opens ─► stream ─► over
 *                         └► the target speaks HTTP/1.1 only: a delegate over another transport
 */
export class H2Attempt implements Attempt, Queued {
  readonly request: UpstreamRequest
  readonly observer: AttemptObserver
  readonly isFresh: boolean
  isOver = false
  isQueued = false
  waitingSince = 0
  queueNext: Queued | null = null
  queuePrevious: Queued | null = null
  readonly #owner: H2Owner
  readonly #maxHeaderBytes: number
  /** The stream, or the attempt of the fallback transport. */
  #sent: H2Stream | Attempt | null = null
  #isPaused = false

  constructor(
    request: UpstreamRequest,
    observer: AttemptObserver,
    way: { readonly isFresh: boolean; readonly owner: H2Owner; readonly maxHeaderBytes: number },
  ) {
    this.request = request
    this.observer = observer
    this.isFresh = way.isFresh
    this.#owner = way.owner
    this.#maxHeaderBytes = way.maxHeaderBytes
  }

  pause(): void {
    this.#isPaused = true
    this.#sent?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#sent?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    const sent = this.#sent
    if (sent === null) this.#owner.onAbandoned(this)
    else if ('abort' in sent) sent.abort()
    else sent.cancel()
  }

  end(trailers: readonly string[] | null): void {
    if (this.isOver) return
    this.isOver = true
    this.observer.onEnd(trailers)
  }

  fail(failure: Failure): void {
    if (this.isOver) return
    this.isOver = true
    this.observer.onFailure(failure)
  }

  /** Moves the attempt to another transport with the same observer. */
  delegate(dispatch: () => Attempt): void {
    if (this.isOver) return
    this.#sent = dispatch()
    if (this.#isPaused) this.#sent.pause()
  }

  /** Sends the request. Returns false if it failed. @param opening how the connection was opened, or null if it is reused. */
  begin(connection: H2Connection, opening: Opening | null): boolean {
    const block = encodeRequest(this.request, connection.isSecure)
    if (block === null || connection.isEnded) {
      this.fail(block === null ? FAILURES.request : FAILURES.reset)
      return false
    }
    const stream = connection.open(this)
    this.#sent = stream
    if (this.#isPaused) stream.pause()
    stream.begin(block, opening)
    return true
  }

  /** Returns true if the fields exceed the size limit of heads. */
  isTooLarge(fields: readonly string[]): boolean {
    let bytes = 0
    for (const text of fields) bytes += text.length
    return bytes > this.#maxHeaderBytes
  }
}
