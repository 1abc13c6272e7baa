import type { HttpResponse } from 'uWebSockets.js'
import type { BodyReceiver } from '../listener.js'
import { EarlyBody, MAX_EARLY_BYTES } from './early-body.js'
import { Linger } from './linger.js'
import { enterParser, leaveParser } from './parser-turn.js'
import type { Stalled, StalledStreams } from './stalled-streams.js'

/** State of the response on the same connection that the body depends on. */
export interface BodyOwner {
  /** True if the connection is gone or the response complete. The uWS object must not be touched. */
  readonly isOver: boolean
  /** True if a complete response was given. It may still wait for the parser to return. */
  readonly isAnswered: boolean
  /** True while the response waits for the client to read. */
  readonly isWaiting: boolean
  /** True if it has waited before, so that uWS reports when the connection is writable. */
  readonly hasWaited: boolean
  abort(): void
  /** Makes uWS send buffered bytes of the response. */
  flush(): void
}

/**
 * The request body on a uWebSockets.js connection, with its flow control.
 *
 * uWS does not watch a paused connection at all, neither for data nor for writability or disconnects. Resuming watches
 * only for data. So the body is no longer paused once the response has waited for its client; the receiver must buffer
 * what arrives (docs/guides/engines.md).
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
  /** Number of bytes received after the response. */
  #dropped = 0
  /** Lingering close; set once the response was sent before the end of the body. */
  linger: Linger | null = null

  constructor(res: HttpResponse, owner: BodyOwner, stalled: StalledStreams) {
    this.#res = res
    this.#owner = owner
    this.#stalled = stalled
    res.onData((chunk, isLast) => this.#onData(chunk, isLast))
    stalled.add(this)
  }

  /** Starts delivery from the first byte. Called once. */
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

  /** Clears the paused state, because uWS watches the connection again while the response waits. */
  clearPaused(): void {
    this.isPaused = false
  }

  /** Drops the buffered bytes of an answered request. */
  forget(): void {
    this.#early?.close()
    this.#early = null
  }

  /** Called when the response is over or the connection is gone. */
  close(): void {
    this.#stalled.remove(this)
    this.forget()
    this.linger?.close()
  }

  /** Starts to read and drop the rest after the response; see `Linger`. */
  startLinger(isAnswered: boolean, finish: () => void): void {
    this.linger = new Linger(this.#res, isAnswered, finish)
    if (!isAnswered && this.#owner.isWaiting) this.linger.drain()
    if (this.isDone) this.linger.add(0, true)
  }

  /**
   * Restarts the timeout of uWS by pausing. uWS closes a connection that it has not read for 10 s, or whose body is
   * slower than 16 KB/s. The limit for bodies is `limits.bodyIdle` instead.
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

  /**
   * Handles the end of the body. Reading resumes even if the receiver is behind, because the next request may follow.
   */
  #complete(): void {
    this.isDone = true
    this.#stalled.remove(this)
    this.resume()
  }

  /** Buffers a chunk that arrived before there is a receiver, and pauses. More may arrive in spite of that. */
  #keep(chunk: ArrayBuffer): void {
    if (this.#owner.isOver) return
    this.#early ??= new EarlyBody()
    if (this.#early.add(new Uint8Array(chunk))) this.pause()
    else this.#res.close()
  }

  /**
   * Drops bytes after the response. A sender as fast as the gateway would never let this turn of the event loop end, in
   * which the response waits to be sent; so there is a limit.
   */
  #drop(chunk: ArrayBuffer): void {
    this.#dropped += chunk.byteLength
    if (this.#dropped > MAX_EARLY_BYTES) this.#owner.abort()
  }
}
