import type { HttpResponse } from 'uWebSockets.js'
import type { BodyReceiver } from '../listener.js'
import { EarlyBody, MAX_EARLY_BYTES } from './early-body.js'
import { Linger } from './linger.js'
import { enterParser, leaveParser } from './parser-turn.js'
import type { Stalled, StalledStreams } from './stalled-streams.js'

/** What the body has to know of the response on the same connection. */
export interface BodyOwner {
  /** The connection is gone, or the response complete: uWS' object must not be touched. */
  readonly isOver: boolean
  /** A whole answer was given; it may still wait for the parser to be off the stack. */
  readonly isAnswered: boolean
  /** The response waits for its client to read. */
  readonly isWaiting: boolean
  /** It has waited before, and uWS calls when the connection can be written to. */
  readonly hasWaited: boolean
  abort(): void
  /** Lets uWS send what it holds of the response. */
  flush(): void
}

/**
 * The body of a request on a uWebSockets.js connection: its pieces, and whether they are read.
 *
 * A paused connection is not watched at all, neither for bytes nor for room nor for its end, and resuming watches for
 * bytes only. So nothing is paused any more once the response has waited for its client: what comes then has to be
 * kept by the receiver (docs/reference/limits.md, "uWebSockets.js").
 */
export class RequestBody implements Stalled {
  isDone = false
  isPaused = false
  stalledNext: Stalled | null = null
  stalledPrevious: Stalled | null = null
  isStalled = false
  readonly #res: HttpResponse
  readonly #owner: BodyOwner
  readonly #stalled: StalledStreams
  #receiver: BodyReceiver | null = null
  #early: EarlyBody | null = null
  /** Bytes that came after the answer. */
  #dropped = 0
  /** Set once the answer has been sent in front of the end of the body. */
  linger: Linger | null = null

  constructor(res: HttpResponse, owner: BodyOwner, stalled: StalledStreams) {
    this.#res = res
    this.#owner = owner
    this.#stalled = stalled
    res.onData((chunk, isLast) => this.#onData(chunk, isLast))
    stalled.add(this)
  }

  /** Delivers everything from the first byte on; called once. */
  read(receiver: BodyReceiver): void {
    this.#receiver = receiver
    const early = this.#early
    if (early === null) return
    this.#early = null
    do {
      const piece = early.take()
      receiver.onBodyChunk(piece, this.isDone && early.isEmpty)
    } while (!early.isEmpty && !this.#owner.isOver && !this.#owner.isAnswered)
    early.close()
    if (!this.isDone) this.resume()
  }

  pause(): void {
    if (this.isPaused || this.isDone || this.#owner.isOver || this.#owner.hasWaited) return
    this.isPaused = true
    this.#res.pause()
  }

  resume(): void {
    if (!this.isPaused || this.#owner.isOver) return
    this.isPaused = false
    this.#res.resume()
  }

  /** The response waits for its client: uWS watches the connection for both again. */
  unpaused(): void {
    this.isPaused = false
  }

  /** The request has its answer: nobody will ask for what was kept. */
  forget(): void {
    this.#early?.close()
    this.#early = null
  }

  /** The response is over, or the connection gone. */
  close(): void {
    this.#stalled.remove(this)
    this.forget()
    this.linger?.close()
  }

  /** Reads on and drops what comes, behind `close`; see `Linger`. */
  startLinger(isAnswered: boolean, finish: () => void): void {
    this.linger = new Linger(this.#res, isAnswered, finish)
    if (!isAnswered && this.#owner.isWaiting) this.linger.drain()
    if (this.isDone) this.linger.add(0, true)
  }

  /**
   * uWS closes a connection that it has not read from for 10 s, or whose body comes with less than 16 KB/s. Pausing
   * restarts that clock; `limits.bodyIdle` is what ends a body that does not come.
   */
  retryStalled(): void {
    if (this.#owner.isOver || this.#owner.isWaiting) return
    if (this.isPaused) {
      this.#res.resume()
      this.#res.pause()
      return
    }
    this.#res.pause()
    this.#res.resume()
    this.#owner.flush()
  }

  #onData(chunk: ArrayBuffer, isLast: boolean): void {
    enterParser()
    try {
      if (isLast) this.#complete()
      if (this.linger !== null) this.linger.add(chunk.byteLength, isLast)
      else if (this.#owner.isAnswered) this.#drop(chunk)
      else if (this.#receiver === null) this.#keep(chunk)
      else this.#receiver.onBodyChunk(Buffer.from(chunk), isLast)
    } finally {
      leaveParser()
    }
  }

  /** Reading goes on even if someone is still behind with this body: what follows is the connection's next request. */
  #complete(): void {
    this.isDone = true
    this.#stalled.remove(this)
    this.resume()
  }

  /** It came before anyone wanted it: stop reading, and keep what comes in spite of that. */
  #keep(chunk: ArrayBuffer): void {
    if (this.#owner.isOver) return
    this.#early ??= new EarlyBody()
    if (this.#early.add(new Uint8Array(chunk))) this.pause()
    else this.#res.close()
  }

  /**
   * Nobody wants these bytes, but a sender as fast as we read would never let this turn of the event loop end, in
   * which the answer waits to be sent.
   */
  #drop(chunk: ArrayBuffer): void {
    this.#dropped += chunk.byteLength
    if (this.#dropped > MAX_EARLY_BYTES) this.#owner.abort()
  }
}
