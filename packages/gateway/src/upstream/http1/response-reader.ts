import { ChunkedBody } from '../../protocol/http1/chunked-body.js'
import type { CachedHead, HeadCache } from '../../protocol/http1/head-cache.js'
import { BROKEN, MORE, TOO_LARGE } from '../../protocol/http1/message-head.js'
import { FAILURES, MAX_INFORMATIONAL } from '../transport/failure.js'
import { ReceivedHead } from '../transport/received-head.js'
import type { Failure } from '../transport/transport.js'
import { framingOf, type ResponseFraming } from './response-framing.js'
import { ResponseHead } from './response-head.js'
import type { WireAttempt } from './wire-attempt.js'

/** A target's response head together with its parsed form. */
interface CachedResponseHead extends CachedHead {
  readonly head: ReceivedHead
  readonly framing: ResponseFraming
}

/** Cache of a target's most recent heads. */
export type ReceivedHeads = HeadCache<CachedResponseHead>

/** Receiver of the end of a response. */
export interface ResponseEvents {
  onKeepAlive(value: string): void
  /** @param isLast true if no bytes followed the response. */
  onComplete(isKept: boolean, isLast: boolean, trailers: readonly string[] | null): void
  onFailure(failure: Failure): void
}

const HEAD = 0
const LENGTH = 1
const CHUNKED = 2
const UNTIL_CLOSE = 3
const OVER = 4

/**
 * Parses the responses on a connection one by one:
 *
 *     head ─┬─ 1xx ─► head                         MAX_INFORMATIONAL times
 *           ├─ no body (HEAD, 204, 304) ─────────► over
 *           └─► body: of a length, chunked, or until the connection closes ─► over
 */
export class ResponseReader {
  readonly #events: ResponseEvents
  readonly #head: ResponseHead
  readonly #cache: ReceivedHeads
  #chunked: ChunkedBody | null = null
  #state = OVER
  #isHead = false
  #informational = 0
  /** Bytes of the body still to come. */
  #left = 0
  #keepsConnection = false

  constructor(
    events: ResponseEvents,
    options: { readonly maxHeaderBytes: number; readonly headCache: ReceivedHeads },
  ) {
    this.#events = events
    this.#head = new ResponseHead(options.maxHeaderBytes)
    this.#cache = options.headCache
  }

  get hasHead(): boolean {
    return this.#state !== HEAD
  }

  /** True if only the end of the connection ends the body. */
  get endsWithConnection(): boolean {
    return this.#state === UNTIL_CLOSE
  }

  /** Prepares for the response to a request of this method. */
  begin(method: string): void {
    this.#isHead = method === 'HEAD'
    this.#informational = 0
    this.#state = HEAD
    this.#head.begin()
  }

  /** Parses bytes and returns the position reached: `to`, unless the attempt was paused, ended or failed. */
  read(bytes: Buffer, from: number, to: number, attempt: WireAttempt): number {
    let at = from
    while (at < to && !attempt.isOver && !(attempt.isPaused && this.#state !== HEAD)) {
      if (this.#state === HEAD) at = this.#readHead(bytes, at, to, attempt)
      else if (this.#state === CHUNKED) at = this.#readChunks(bytes, at, to, attempt)
      else at = this.#readPlain(bytes, at, to, attempt)
    }
    return at
  }

  #readHead(bytes: Buffer, from: number, to: number, attempt: WireAttempt): number {
    const isWhole = this.#head.isUntouched
    const cached = isWhole ? this.#cache.find(bytes, from, to) : null
    if (cached !== null) {
      const end = from + cached.bytes.length
      this.#take(cached.head, cached.framing, attempt, end === to)
      return end
    }
    const end = this.#head.read(bytes, from, to)
    if (end === MORE) return to
    if (end < 0) return this.#failAt(to, end)
    const { status, minor } = this.#head
    const fields = this.#head.takeFields()
    const framing = framingOf(fields, minor)
    if (framing === null || status === 100 || status === 101) return this.#failAt(to, BROKEN)
    if (status < 100 || status > 599) return this.#giveUp(to, FAILURES.badStatus)
    if (status < 200) {
      // The announced final response could not follow on this connection.
      if (!framing.keepsConnection) return this.#failAt(to, BROKEN)
      this.#head.begin()
      return ++this.#informational > MAX_INFORMATIONAL ? this.#giveUp(to, FAILURES.tooManyInformational) : end
    }
    const head = new ReceivedHead(status, fields)
    if (isWhole) this.#cache.keep(to - from, { bytes: bytes.subarray(from, end), head, framing })
    this.#take(head, framing, attempt, end === to)
    return end
  }

  #take(head: ReceivedHead, framing: ResponseFraming, attempt: WireAttempt, isLast: boolean): void {
    this.#enterBody(head.status, framing)
    attempt.observer.onHead(head)
    if (this.#state === OVER) this.#complete(isLast)
  }

  #enterBody(status: number, framing: ResponseFraming): void {
    const { length, isChunked, keepAlive, keepsConnection } = framing
    this.#events.onKeepAlive(keepAlive)
    this.#keepsConnection = keepsConnection
    this.#left = length
    if (this.#isHead || status === 204 || status === 304) this.#skipBody(status, framing)
    else if (isChunked) this.#enterChunks()
    else if (length < 0) this.#state = UNTIL_CLOSE
    else this.#state = length === 0 ? OVER : LENGTH
  }

  /** A 304 may have the Content-Length of a 200. A target that declares a body for a 204 may also send it. */
  #skipBody(status: number, { length, isChunked }: ResponseFraming): void {
    this.#state = OVER
    if (this.#isHead || (status === 204 && (length > 0 || isChunked))) this.#keepsConnection = false
  }

  #enterChunks(): void {
    this.#state = CHUNKED
    this.#chunked ??= new ChunkedBody(this.#head)
    this.#chunked.begin()
  }

  #readChunks(bytes: Buffer, from: number, to: number, attempt: WireAttempt): number {
    const chunked = this.#chunked!
    const at = chunked.find(bytes, from, to)
    if (at < 0) return this.#failAt(to, at)
    if (chunked.isDone) {
      this.#state = OVER
      this.#events.onComplete(this.#keepsConnection, at === to, chunked.trailers)
      return at
    }
    if (chunked.available > 0) attempt.observer.onData(bytes.subarray(at, at + chunked.available))
    return at + chunked.available
  }

  #readPlain(bytes: Buffer, from: number, to: number, attempt: WireAttempt): number {
    const end = this.#state === LENGTH ? Math.min(to, from + this.#left) : to
    this.#left -= end - from
    attempt.observer.onData(bytes.subarray(from, end))
    if (this.#state === LENGTH && this.#left === 0) {
      this.#state = OVER
      this.#complete(end === to)
    }
    return end
  }

  #complete(isLast: boolean): void {
    this.#events.onComplete(this.#keepsConnection, isLast, null)
  }

  #failAt(to: number, problem: number): number {
    return this.#giveUp(to, problem === TOO_LARGE ? FAILURES.overflow : FAILURES.invalid)
  }

  #giveUp(to: number, failure: Failure): number {
    this.#events.onFailure(failure)
    return to
  }
}
