import { performance } from 'node:perf_hooks'
import { PHASE } from '@sluice/core'
import type { ExchangeFlow } from './exchange-flow.js'
import type { ExchangeTimer } from './exchange-timer.js'
import type { BodySink } from './filtered-body.js'
import { paceDeadline } from './pace.js'
import { ResponseBuffer } from './response-buffer.js'
import type { DeliveryBounds } from './route.js'

/** Whom a slow client may hold up. */
export interface HeldSource {
  /** The client is so slow that the target has to wait for it, until `resume`. */
  hold(): void
  resume(): void
}

/**
 * A client that has not taken what was written to it, for as long as that is so:
 *
 *     target ─► buffer, up to `bufferBytes` ─► client            then the target is held
 *
 * It must take bytes at the minimum rate of the listener, with a credit of `idleMs`.
 */
export class SlowReader {
  /** The client has not taken what was last written. */
  isBehind = false
  readonly #flow: ExchangeFlow
  readonly #timer: ExchangeTimer
  readonly #source: HeldSource
  readonly #sink: BodySink
  readonly #bounds: DeliveryBounds
  readonly #buffer: ResponseBuffer
  #isHeld = false
  /** Bytes given to the client that it may not have taken. */
  #givenBytes = 0
  /** For how long the client may go on taking nothing, ms; it is whole again after as long without falling behind. */
  #creditMs: number
  #caughtUpAt = 0

  /** @param sink takes the body: the client, or the filters before it. */
  constructor(flow: ExchangeFlow, source: HeldSource, sink: BodySink, bounds: DeliveryBounds) {
    this.#flow = flow
    this.#timer = flow.timer
    this.#source = source
    this.#sink = sink
    this.#bounds = bounds
    this.#buffer = new ResponseBuffer(bounds.bufferBytes)
    this.#creditMs = bounds.idleMs
  }

  /** So many bytes were written that the client has not taken. */
  fallBehind(bytes: number): void {
    const { idleMs, bufferBytes } = this.#bounds
    this.isBehind = true
    this.#givenBytes = bytes
    const creditMs = this.#creditMs + performance.now() - this.#caughtUpAt
    this.#timer.waitIn(PHASE.clientWrite, 'client', Math.min(creditMs, idleMs))
    if (bufferBytes === 0) this.#hold()
  }

  /** Takes what the target sends meanwhile. */
  add(chunk: Uint8Array): void {
    this.#buffer.add(chunk)
    if (this.#buffer.isFull) this.#hold()
  }

  /** The client has taken what it had, and gets more. True: it has caught up. */
  onDrain(): boolean {
    this.#noteTaken(this.#givenBytes)
    if (!this.#sendHeld()) return false
    this.isBehind = false
    this.#caughtUpAt = performance.now()
    this.#creditMs = this.#timer.dueAt - this.#caughtUpAt
    return true
  }

  /** The target may go on. */
  letGo(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#source.resume()
  }

  /** The credit is used up. False: the client has taken too little since it was last looked at. */
  onDue(): boolean {
    const { unsentBytes } = this.#sink
    const taken = unsentBytes < 0 ? 0 : this.#givenBytes - unsentBytes
    if (taken <= 0) return false
    this.#givenBytes = unsentBytes
    return this.#noteTaken(taken)
  }

  /** Gives up what is left; answers how many bytes that were. */
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

  /** False: the client has to take that first. */
  #sendHeld(): boolean {
    const buffer = this.#buffer
    this.#givenBytes = 0
    while (!buffer.isEmpty) {
      const block = buffer.take()
      this.#givenBytes += block.length
      if (this.#sink.write(block)) continue
      if (buffer.hasRoom) this.letGo()
      return false
    }
    return true
  }

  /** False: the client is late all the same. */
  #noteTaken(bytes: number): boolean {
    const { minReadRate } = this.#flow.x.pace
    const dueAt = paceDeadline(this.#timer.dueAt, bytes, minReadRate, this.#bounds.idleMs)
    const leftMs = dueAt - performance.now()
    if (leftMs <= 0) return false
    this.#timer.waitFor('client', leftMs)
    return true
  }
}
