import type { Queued } from '../transport/attempt-queue.js'
import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from '../transport/transport.js'
import { expectsBody } from './request-head.js'
import type { WireUpload } from './wire-upload.js'

interface AttemptConnection {
  pause(): void
  resume(): void
  /** Closes without failing the attempt. */
  close(): void
  /** Called when the attempt is aborted before it was sent. */
  release(): void
}

/** Owner of attempts that have no connection yet. */
export interface AttemptOwner {
  onAbandoned(attempt: WireAttempt): void
}

interface AttemptOptions {
  readonly head: string
  readonly isFresh: boolean
  readonly owner: AttemptOwner
}

/**
 * A request on a connection:
 *
 *     queued ─► at a connection (connecting, or about to be sent) ─► begun ─► over
 */
export class WireAttempt implements Attempt, Queued {
  readonly request: UpstreamRequest
  readonly observer: AttemptObserver
  /** True if it must not use a connection that has served requests. */
  readonly isFresh: boolean
  /** Formatted request head. */
  readonly head: string
  connection: AttemptConnection | null = null
  /** True once it is being sent, so that the target may see it. */
  hasBegun = false
  isPaused = false
  isOver = false
  isQueued = false
  waitingSince = 0
  queueNext: Queued | null = null
  queuePrevious: Queued | null = null
  readonly #owner: AttemptOwner

  constructor(request: UpstreamRequest, observer: AttemptObserver, way: AttemptOptions) {
    this.request = request
    this.observer = observer
    this.head = way.head
    this.isFresh = way.isFresh
    this.#owner = way.owner
  }

  get upload(): WireUpload | null {
    return this.request.upload as WireUpload | null
  }

  pause(): void {
    if (this.isOver || this.isPaused) return
    this.isPaused = true
    if (this.hasBegun) this.connection!.pause()
  }

  resume(): void {
    if (this.isOver || !this.isPaused) return
    this.isPaused = false
    if (this.hasBegun) this.connection!.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    const { connection } = this
    if (connection === null) this.#owner.onAbandoned(this)
    else if (this.hasBegun) connection.close()
    else {
      this.connection = null
      connection.release()
    }
  }

  /**
   * Returns false if the response arrived before the end of the request. Unsent bytes would become part of the next
   * request.
   */
  isSent(unsentBytes: number): boolean {
    const { method, body } = this.request
    if (this.upload === null && body === null) return true
    if (!expectsBody(method)) return false
    return (this.upload === null || this.upload.isDone) && unsentBytes === 0
  }

  end(trailers: readonly string[] | null): void {
    this.isOver = true
    this.connection = null
    this.observer.onEnd(trailers)
  }

  fail(failure: Failure): void {
    this.isOver = true
    this.connection = null
    this.observer.onFailure(failure)
  }
}
