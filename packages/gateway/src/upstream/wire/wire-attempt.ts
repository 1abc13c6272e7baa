import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from '../transport.js'
import type { Connection } from './connection.js'
import type { WireUpload } from './wire-upload.js'

/** Where an attempt is given up that has no connection yet, or one on which nothing was sent. */
export interface AttemptOwner {
  onAbandoned(attempt: WireAttempt): void
}

/**
 * One request on its way over a connection:
 *
 *     in line ─► at a connection (connecting, or about to be sent) ─► begun ─► over
 */
export class WireAttempt implements Attempt {
  readonly request: UpstreamRequest
  readonly observer: AttemptObserver
  /** It must not go over a connection that served before. */
  readonly isFresh: boolean
  /** The request's head, ready to be written. */
  readonly head: string
  connection: Connection | null = null
  /** It is being written: the target may see it. */
  hasBegun = false
  isPaused = false
  isOver = false
  readonly #owner: AttemptOwner

  constructor(
    request: UpstreamRequest,
    observer: AttemptObserver,
    way: { readonly head: string; readonly isFresh: boolean; readonly owner: AttemptOwner },
  ) {
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

  end(): void {
    this.isOver = true
    this.connection = null
    this.observer.onEnd()
  }

  fail(failure: Failure): void {
    this.isOver = true
    this.connection = null
    this.observer.onFailure(failure)
  }
}
