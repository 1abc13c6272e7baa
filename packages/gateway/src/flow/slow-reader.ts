import { performance } from 'node:perf_hooks'
import { PHASE } from '@sluice/core'
import type { ExchangeFlow } from './exchange-flow.js'
import type { ExchangeTimer } from './exchange-timer.js'
import type { BodySink } from './filtered-body.js'
import { paceDeadline } from './pace.js'
import { ResponseBuffer } from './response-buffer.js'
import type { DeliveryBounds } from './route.js'

/** A response source that can be paused for a slow client. */
export interface HeldSource {
  /** Pauses the target for a slow client until `resume`. */
  hold(): void
  resume(): void
}

/**
 * A client that has not accepted all that was written to it:
 *
 *     target ─► buffer, up to `bufferBytes` ─► client            then the target is held
 *
 * It must accept bytes at the minimum rate of the listener, with a credit of `idleMs`.
 */
export class SlowReader {
  /** True if the client has not accepted the last write. */
  isBehind = false
  readonly #flow: ExchangeFlow
  readonly #timer: ExchangeTimer
  readonly #source: HeldSource
  readonly #sink: BodySink
  readonly #bounds: DeliveryBounds
  readonly #buffer: ResponseBuffer
  #isHeld = false
  /** Bytes written that the client may not have accepted. */
  #givenBytes = 0
  /** Remaining time in which the client may accept nothing, in milliseconds. It refills while the client keeps up. */
  #creditMs: number
  #caughtUpAt = 0

  /** @param sink destination of the body: the client, or the filters in front of it. */
  constructor(flow: ExchangeFlow, source: HeldSource, sink: BodySink, bounds: DeliveryBounds) {
    this.#flow = flow
    this.#timer = flow.timer
    this.#source = source
    this.#sink = sink
    this.#bounds = bounds
    this.#buffer = new ResponseBuffer(bounds.bufferBytes)
    this.#creditMs = bounds.idleMs
  }

  /** Starts the deadline after a write of this many bytes that the client has not accepted. */
  fallBehind(bytes: number): void {
    const { idleMs, bufferBytes } = this.#bounds
    this.isBehind = true
    this.#givenBytes = bytes
    const creditMs = this.#creditMs + performance.now() - this.#caughtUpAt
    this.#timer.waitIn(PHASE.clientWrite, 'client', Math.min(creditMs, idleMs))
    if (bufferBytes === 0) this.#hold()
  }

  add(chunk: Uint8Array): void {
    this.#buffer.add(chunk)
    if (this.#buffer.isFull) this.#hold()
  }

  /** Handles a drained client by sending more. Returns true if it has caught up. */
  onDrain(): boolean {
    this.#noteTaken(this.#givenBytes)
    if (!this.#sendHeld()) return false
    this.isBehind = false
    this.#caughtUpAt = performance.now()
    this.#creditMs = this.#timer.dueAt - this.#caughtUpAt
    return true
  }

  resume(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#source.resume()
  }

  /** Handles an expired credit. Returns false if the client has accepted too little since the last check. */
  onCreditExpired(): boolean {
    const { unsentBytes } = this.#sink
    const taken = unsentBytes < 0 ? 0 : this.#givenBytes - unsentBytes
    if (taken <= 0) return false
    this.#givenBytes = unsentBytes
    return this.#noteTaken(taken)
  }

  /** Discards the rest and returns its size in bytes. */
  close(): number {
    const { size } = this.#buffer
    this.#buffer.close()
    return size
  }

  #hold(): void {
    if (this.#isHeld) return
    this.#isHeld = true
    this.#source.hold()
  }

  /** Sends the buffered bytes. Returns false if the client must drain first. */
  #sendHeld(): boolean {
    const buffer = this.#buffer
    this.#givenBytes = 0
    while (!buffer.isEmpty) {
      const block = buffer.take()
      this.#givenBytes += block.length
      if (this.#sink.write(block)) continue
      if (buffer.hasRoom) this.resume()
      return false
    }
    return true
  }

  /** Extends the deadline for accepted bytes. Returns false if the client is still too slow. */
  #noteTaken(bytes: number): boolean {
    const { minReadRate } = this.#flow.x.pace
    const dueAt = paceDeadline(this.#timer.dueAt, bytes, minReadRate, this.#bounds.idleMs)
    const leftMs = dueAt - performance.now()
    if (leftMs <= 0) return false
    this.#timer.waitFor('client', leftMs)
    return true
  }
}
