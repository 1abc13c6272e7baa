import http2 from 'node:http2'
import { bytesOf } from '../../lib/body-block.js'
import { forwardableTrailers } from '../../protocol/response-fields.js'
import type { Queued } from '../transport/attempt-queue.js'
import { FAILURES, failureOf, MAX_INFORMATIONAL } from '../transport/failure.js'
import type { Opening } from '../transport/opening.js'
import type { ReadableUpload } from '../transport/readable-upload.js'
import { ReceivedHead } from '../transport/received-head.js'
import type { Attempt, AttemptObserver, Failure, UpstreamRequest } from '../transport/transport.js'
import { requestFields, trailerFields } from './request-fields.js'

/** Owner of an attempt that has no stream. */
export interface H2Owner {
  /** Called when an attempt is abandoned before it has a stream. */
  onAbandoned(attempt: H2Attempt): void
}

/** The connection of a stream. */
export interface StreamOwner {
  readonly client: http2.ClientHttp2Session
  onStreamOver(): void
  /** Checks if the target is still reachable, after an attempt was abandoned without a response. */
  checkTarget(): void
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
  #delegate: Attempt | null = null
  #stream: http2.ClientHttp2Stream | null = null
  #isPaused = false
  #informational = 0
  #head: ReceivedHead | null = null
  #bodyBytes = 0
  #trailers: readonly string[] | null = null

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
    this.#delegate?.pause()
    this.#stream?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#delegate?.resume()
    this.#stream?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    if (this.#delegate !== null) this.#delegate.abort()
    else if (this.#stream === null) this.#owner.onAbandoned(this)
    else this.#stream.close(http2.constants.NGHTTP2_CANCEL)
  }

  fail(failure: Failure): void {
    if (this.isOver) return
    this.isOver = true
    this.observer.onFailure(failure)
  }

  /** Moves the attempt to another transport with the same observer. */
  delegate(dispatch: () => Attempt): void {
    if (this.isOver) return
    this.#delegate = dispatch()
    if (this.#isPaused) this.#delegate.pause()
  }

  /** Sends the request. @param opening how the connection was opened, or null if it is reused. */
  begin(session: StreamOwner, opening: Opening | null): void {
    const stream = this.#open(session)
    if (stream === null) {
      session.onStreamOver()
      const { closed, destroyed } = session.client
      this.fail(closed || destroyed ? FAILURES.reset : FAILURES.request)
      return
    }
    this.#stream = stream
    this.#watch(stream, session)
    this.observer.onStarted(opening)
    if (this.isOver) return
    this.#sendBody(stream)
    if (this.#isPaused) stream.pause()
  }

  #open({ client }: StreamOwner): http2.ClientHttp2Stream | null {
    const { body, upload } = this.request
    const fields = requestFields(this.request, client.encrypted === true)
    if (fields === null) return null
    const hasBody = upload !== null || (body !== null && body.length > 0)
    try {
      return client.request(fields, { endStream: !hasBody, waitForTrailers: upload !== null })
    } catch {
      return null
    }
  }

  #watch(stream: http2.ClientHttp2Stream, session: StreamOwner): void {
    stream.on('headers', () => this.#onInformational())
    stream.on('response', (...args: unknown[]) => this.#onResponse(args[2] as readonly string[]))
    stream.on('data', (chunk: Buffer) => this.#onData(chunk))
    stream.on('trailers', (...args: unknown[]) => {
      this.#trailers = forwardableTrailers(listOf(args[2] as readonly string[]))
    })
    stream.on('end', () => this.#onEnd(stream))
    stream.on('error', (error) => this.#giveUp(resetFailure(stream, failureOf(error))))
    stream.on('close', () => {
      if (this.isOver && this.#head === null) session.checkTarget()
      this.#giveUp(resetFailure(stream, FAILURES.reset))
      this.request.upload?.destroy()
      session.onStreamOver()
    })
  }

  #sendBody(stream: http2.ClientHttp2Stream): void {
    const { body, upload } = this.request
    if (upload !== null) {
      const source = upload as ReadableUpload
      stream.on('wantTrailers', () => stream.sendTrailers(trailerFields(source.trailers)))
      source.on('error', () => this.#giveUp(FAILURES.request))
      source.pipe(stream)
    } else if (body !== null && body.length > 0) {
      stream.end(bytesOf(body))
    }
  }

  #onInformational(): void {
    if (++this.#informational > MAX_INFORMATIONAL) this.#giveUp(FAILURES.tooManyInformational)
  }

  #onResponse(raw: readonly string[]): void {
    if (this.isOver) return
    const fields = listOf(raw)
    const status = Number(raw[raw.indexOf(':status') + 1])
    const bytes = fields.reduce((sum, text) => sum + text.length, 0)
    if (status > 599 || status < 200) this.#giveUp(FAILURES.badStatus)
    else if (bytes > this.#maxHeaderBytes) this.#giveUp(FAILURES.overflow)
    else {
      this.#head = new ReceivedHead(status, fields, true)
      this.observer.onHead(this.#head)
    }
  }

  #onData(chunk: Buffer): void {
    if (this.isOver) return
    this.#bodyBytes += chunk.length
    this.observer.onData(chunk)
  }

  /** Handles the end of the readable side. A reset also ends it, and then the body is incomplete. */
  #onEnd(stream: http2.ClientHttp2Stream): void {
    if (this.isOver) return
    const head = this.#head
    if (head === null) this.#giveUp(resetFailure(stream, FAILURES.reset))
    else if (stream.rstCode !== 0 || !this.#isWhole(head)) this.#giveUp(FAILURES.truncated)
    else {
      this.isOver = true
      // A target may respond before it has read the whole request.
      if (!stream.writableEnded) stream.close(http2.constants.NGHTTP2_NO_ERROR)
      this.observer.onEnd(this.#trailers)
    }
  }

  #isWhole({ length, status }: ReceivedHead): boolean {
    if (length < 0 || status === 304 || this.request.method === 'HEAD') return true
    return length === this.#bodyBytes
  }

  #giveUp(failure: Failure): void {
    if (this.isOver) return
    this.isOver = true
    this.#stream?.close(http2.constants.NGHTTP2_CANCEL)
    const isReset = failure === FAILURES.reset || failure === FAILURES.unprocessed
    this.observer.onFailure(isReset && this.#head !== null ? FAILURES.truncated : failure)
  }
}

/**
 * Returns the failure for a reset stream. node:http2 uses PROTOCOL_ERROR for malformed responses (RFC 9113 section
 * 8.1.1), and REFUSED_STREAM also for streams beyond a GOAWAY (section 8.7).
 */
function resetFailure({ rstCode }: http2.ClientHttp2Stream, otherwise: Failure): Failure {
  if (rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) return FAILURES.unprocessed
  return rstCode === http2.constants.NGHTTP2_PROTOCOL_ERROR ? FAILURES.invalid : otherwise
}

/** Returns the fields without pseudo-header fields, as a flat list. */
function listOf(raw: readonly string[]): string[] {
  const list: string[] = []
  for (let i = 0; i < raw.length; i += 2) if (!raw[i]!.startsWith(':')) list.push(raw[i]!, raw[i + 1]!)
  return list
}
