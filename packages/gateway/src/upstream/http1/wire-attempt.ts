import type { Queued } from '../transport/attempt-queue.js'
import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from '../transport/transport.js'
import type { Connection } from './connection.js'
import { expectsBody } from './request-head.js'
import type { WireUpload } from './wire-upload.js'

/** Owner of attempts that have no connection yet, or one on which nothing was sent. */
export interface AttemptOwner {
  onAbandoned(attempt: WireAttempt): void
}

/** Options of an attempt besides its request. */
export interface AttemptOptions {
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
  connection: Connection | null = null
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
    if (this.hasBegun) this.connection!.close()
    else this.#owner.onAbandoned(this)
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
