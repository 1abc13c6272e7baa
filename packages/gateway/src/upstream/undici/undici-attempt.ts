import type { Dispatcher } from 'undici'
import { latin1Of } from '../../lib/latin1.js'
import { forwardableTrailers } from '../../protocol/response-fields.js'
import type { Queued } from '../transport/attempt-queue.js'
import { FAILURES, failureOf, MAX_INFORMATIONAL } from '../transport/failure.js'
import type { Opening } from '../transport/opening.js'
import { ReceivedHead } from '../transport/received-head.js'
import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from '../transport/transport.js'
import type { ConnectionUse, ConnectionUser } from './aging-client.js'

/** The request of a queued attempt. */
export interface QueuedRequest {
  readonly request: UpstreamRequest
  readonly isFresh: boolean
}

/** Owner of the connection slots. */
export interface SlotOwner {
  /** Removes an abandoned attempt from the queue, if it is queued. */
  leaveQueue(attempt: UndiciAttempt): void
  /** Called when undici has finished an attempt that had a slot. */
  onSlotFree(): void
}

/** An attempt over undici. It implements the raw handler, the only interface that does not build a headers object. */
export class UndiciAttempt implements Attempt, Queued, ConnectionUser, Dispatcher.DispatchHandler {
  connection: ConnectionUse | null = null
  readonly connectMs: number
  /** Request to send; null if the attempt is not queued. */
  queued: QueuedRequest | null = null
  isQueued = false
  waitingSince = 0
  queueNext: Queued | null = null
  queuePrevious: Queued | null = null
  readonly #observer: AttemptObserver
  readonly #slots: SlotOwner
  readonly #isHead: boolean
  #abort: ((error?: Error) => void) | null = null
  #resume: (() => void) | null = null
  #informational = 0
  #status = 0
  #isPaused = false
  #isOver = false
  #hasSlot = true

  constructor(request: UpstreamRequest, observer: AttemptObserver, slots: SlotOwner) {
    this.connectMs = request.connectMs
    this.#observer = observer
    this.#slots = slots
    this.#isHead = request.method === 'HEAD'
  }

  /** Fails an attempt that has waited too long, after its removal from the queue. */
  giveUpWaiting(): void {
    this.queued = null
    this.#fail(FAILURES.queueTimeout)
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#resume?.()
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    // Without a connection there is nothing to abort. undici reports the attempt when it reaches it.
    if (this.#abort === null) this.#slots.leaveQueue(this)
    else this.#abort()
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort
    if (this.#isOver) abort()
    else this.#observer.onStarted(this.connection === null ? null : openingFor(this.connection))
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (this.#isOver) return true
    // The request did not ask for an upgrade. undici accepts a 101 that names no protocol.
    if (status === 101) return this.#fail(FAILURES.invalid)
    if (status > 599) return this.#fail(FAILURES.badStatus)
    const headers = toHeaderList(raw)
    if (hasForeignCoding(headers)) return this.#fail(FAILURES.invalid)
    if (status < 200) return this.#onInformational()
    this.#status = status
    this.#resume = resume
    this.#observer.onHead(new ReceivedHead(status, headers))
    return !this.#isPaused
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true
    this.#observer.onData(chunk)
    return !this.#isPaused
  }

  onComplete(trailers: readonly unknown[] | null): void {
    this.#releaseSlot()
    const hasTrailers = trailers !== null && trailers.length > 0
    this.#end(hasTrailers ? forwardableTrailers(toHeaderList(trailers as readonly Buffer[])) : null)
  }

  onError(error: Error): void {
    this.#releaseSlot()
    if (this.#isOver) return
    // A 304, a 204 or a response to HEAD may have the length of a body that is not sent.
    if ('code' in error && error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && this.#isBodiless())
      this.#end(null)
    else this.#fail(failureOf(error))
  }

  #isBodiless(): boolean {
    return this.#status === 304 || this.#status === 204 || (this.#isHead && this.#status !== 0)
  }

  #onInformational(): boolean {
    this.#informational++
    return this.#informational > MAX_INFORMATIONAL ? this.#fail(FAILURES.tooManyInformational) : true
  }

  #releaseSlot(): void {
    if (!this.#hasSlot) return
    this.#hasSlot = false
    this.#slots.onSlotFree()
  }

  #end(trailers: readonly string[] | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#observer.onEnd(trailers)
  }

  #fail(failure: Failure): boolean {
    this.#isOver = true
    this.#observer.onFailure(failure)
    this.#abort?.()
    return true
  }
}

/**
 * Returns true for a transfer coding other than chunked. It would be lost on the way to the client, and with it the
 * meaning of the body. undici's parser does not recognize `chunked` followed by a tab, and would deliver the chunks
 * with their sizes as the body.
 */
function hasForeignCoding(headers: readonly string[]): boolean {
  let codings = 0
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== 'transfer-encoding') continue
    if (++codings > 1 || !/^ *chunked *$/i.test(headers[i + 1]!)) return true
  }
  return false
}

function toHeaderList(raw: readonly Buffer[]): string[] {
  const list: string[] = new Array<string>(raw.length)
  for (let i = 0; i < raw.length; i += 2) {
    list[i] = latin1Of(raw[i]!).toLowerCase()
    list[i + 1] = latin1Of(raw[i + 1]!)
  }
  return list
}

/** Returns how the connection was opened, for its first request; otherwise null. */
function openingFor(use: ConnectionUse): Opening | null {
  return use.requests++ > 0 ? null : use.opening
}
