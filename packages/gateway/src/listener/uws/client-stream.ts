import type { HttpResponse } from 'uWebSockets.js'
import type { BodyReceiver, ClientOwner, ClientStream } from '../listener.js'
import { judgeValue, NEEDS_LATIN1, REFUSED, STATUS_LINES } from '../response-head.js'
import { EarlyBody, MAX_EARLY_BYTES } from './early-body.js'
import type { StalledStreams } from './stalled-streams.js'

/**
 * A request and its response on a uWebSockets.js connection. What uWS demands is kept here and nowhere else:
 * nothing is touched after abort or end, every write is corked, a request that may hide a second one is never answered
 * inside the parser's callback (docs/limits.md, "uWebSockets.js").
 *
 * States of the response:  open ─ start ─► streaming ─ end ─► done        open ─ send ─► done
 */
export class UwsClientStream implements ClientStream {
  owner: ClientOwner | null = null
  closeAfter = false
  isGone = false
  readonly #res: HttpResponse
  readonly #stalled: StalledStreams
  readonly #hasBody: boolean
  readonly #uwsCloses: boolean
  #isBodyDone: boolean
  #receiver: BodyReceiver | null = null
  #early: EarlyBody | null = null
  /** Body bytes that came after the answer. */
  #dropped = 0
  #isPaused = false
  /** A whole answer was given; it may still wait for the parser to be off the stack. */
  #isAnswered = false
  #isResumeDue = false
  #isDone = false
  /** Content-Length of a streamed response; -1 when it is chunked. */
  #length = -1
  /** Bytes taken for a response of known length. */
  #taken = 0
  #hasDrainHandler = false
  #isWaiting = false
  #unsent: Uint8Array | null = null
  #unsentFrom = 0

  /** @param uwsCloses uWS has read `Connection: close` itself: it closes after the response and announces nothing. */
  constructor(res: HttpResponse, hasBody: boolean, uwsCloses: boolean, stalled: StalledStreams) {
    this.#res = res
    this.#hasBody = hasBody
    this.#isBodyDone = !hasBody
    this.#uwsCloses = uwsCloses
    this.#stalled = stalled
    res.onAborted(() => this.#onAborted())
    if (hasBody) res.onData((chunk, isLast) => this.#onData(chunk, isLast))
  }

  // The request body.

  readBody(receiver: BodyReceiver): void {
    this.#receiver = receiver
    const early = this.#early
    if (early === null) return
    this.#early = null
    do {
      const piece = early.take()
      receiver.onBodyChunk(piece, this.#isBodyDone && early.isEmpty)
    } while (!early.isEmpty && !this.isGone && !this.#isAnswered)
    early.close()
    if (!this.#isBodyDone) this.resumeBody()
  }

  pauseBody(): void {
    if (this.#isPaused || this.isGone || this.#isDone || this.#isBodyDone) return
    this.#isPaused = true
    this.#isResumeDue = false
    this.#res.pause()
    this.#stalled.add(this)
  }

  /** Resuming the reads of a connection ends its write events, so a response that waits for one comes first. */
  resumeBody(): void {
    if (!this.#isPaused || this.isGone || this.#isDone) return
    this.#isResumeDue = this.#isWaiting
    if (this.#isResumeDue) return
    this.#unpause()
  }

  #unpause(): void {
    this.#isPaused = false
    if (this.#unsent === null) this.#stalled.remove(this)
    this.#res.resume()
  }

  #onData(chunk: ArrayBuffer, isLast: boolean): void {
    callbackDepth++
    if (isLast) this.#completeBody()
    if (this.#isAnswered) this.#drop(chunk)
    else if (this.#receiver !== null) {
      this.#receiver.onBodyChunk(new Uint8Array(chunk), isLast)
      if (!isLast) this.#rearm()
    } else {
      this.#keepEarly(chunk)
    }
    callbackDepth--
  }

  /** Reading goes on even if someone is still behind with this body: what follows is the connection's next request. */
  #completeBody(): void {
    this.#isBodyDone = true
    this.resumeBody()
  }

  /** The body came before anyone wanted it: stop reading, and keep what comes in spite of that. */
  #keepEarly(chunk: ArrayBuffer): void {
    if (this.#isDone) return
    this.#early ??= new EarlyBody()
    if (this.#early.add(new Uint8Array(chunk))) this.pauseBody()
    else this.#res.close()
  }

  /**
   * Nobody wants these bytes, but a sender as fast as we read would never let this turn of the event loop end, in
   * which the answer waits to be sent.
   */
  #drop(chunk: ArrayBuffer): void {
    this.#dropped += chunk.byteLength
    if (this.#dropped > MAX_EARLY_BYTES) this.abort()
  }

  #forgetEarly(): void {
    this.#early?.close()
    this.#early = null
  }

  /** uWS ends uploads slower than 16 KB/s after 10 s; pausing and resuming starts that clock anew. */
  #rearm(): void {
    if (this.#isPaused || this.isGone || this.#isDone || this.#isWaiting) return
    this.#res.pause()
    this.#res.resume()
  }

  // The response.

  send(status: number, headers: readonly string[], body: Uint8Array | string | null): void {
    this.#answer(ENDED_WITH_BODY, status, headers, body ?? '')
  }

  sendHead(status: number, headers: readonly string[], length: number): void {
    this.#answer(ENDED_WITHOUT_BODY, status, headers, length)
  }

  start(status: number, headers: readonly string[], length: number): void {
    this.#length = length
    this.#answer(STARTED, status, headers, length)
  }

  write(chunk: Uint8Array): boolean {
    if (this.isGone || this.#isDone) return true
    corked = this
    corkedChunk = chunk
    this.#res.cork(writeCorked)
    return this.#unsent === null && !this.#isWaiting
  }

  end(): boolean {
    if (this.isGone || this.#isDone) return true
    if (this.#length >= 0) return this.#endOfLength()
    this.#resumeIfDue()
    this.#done()
    corked = this
    this.#res.cork(endCorked)
    return true
  }

  /** uWS ended the response with its last byte, unless bytes are waiting or missing. */
  #endOfLength(): boolean {
    if (this.#taken === this.#length) return false
    this.abort()
    return true
  }

  abort(): void {
    if (this.isGone || this.#isDone) return
    this.#done()
    this.#res.close()
  }

  /** @param payload the body, or the length to announce. */
  #answer(
    how: Answer,
    status: number,
    headers: readonly string[],
    payload: Uint8Array | string | number,
  ): void {
    if (this.isGone || this.#isDone) return
    if (!this.#isBodyDone) this.closeAfter = true
    if (how !== STARTED) {
      this.#isAnswered = true
      this.#forgetEarly()
    }
    if (callbackDepth > 0 && this.closeAfter) {
      const kept = payload instanceof Uint8Array ? Buffer.from(payload) : payload
      setImmediate(() => this.#answer(how, status, headers, kept))
      return
    }
    if (how !== STARTED) {
      // A paused connection is not watched: nobody would notice that its client has gone.
      if (this.#isPaused) this.#unpause()
      this.#done()
    }
    corked = this
    answerHow = how
    answerStatus = status
    answerHeaders = headers
    if (typeof payload === 'number') answerLength = payload
    else answerBody = payload
    this.#res.cork(answerCorked)
    answerHeaders = NO_HEADERS
    answerBody = ''
  }

  /**
   * Runs inside cork. `end(…, true)` announces the close by itself, unless the client did; after `write` it would put
   * that header into the body, so a streamed response announces the close and leaves it to the client. @internal
   */
  answerNow(): void {
    const res = this.#res
    const isForced =
      this.closeAfter &&
      (answerHow === ENDED_WITH_BODY || (answerHow === ENDED_WITHOUT_BODY && this.#hasBody))
    if (answerStatus !== 200) res.writeStatus(STATUS_LINES[answerStatus] ?? STATUS_LINES[502]!)
    this.#writeHeaders(answerHeaders)
    if (this.closeAfter && (!isForced || this.#uwsCloses)) res.writeHeader('Connection', 'close')
    if (answerHow === ENDED_WITH_BODY) res.end(answerBody, isForced)
    else if (answerHow === ENDED_WITHOUT_BODY) this.#endWithoutBody(isForced)
  }

  /** A length of its own would keep uWS waiting for the body; with a forced close it has to be none. */
  #endWithoutBody(isForced: boolean): void {
    if (isForced) {
      this.#res.endWithoutBody(0, true)
      return
    }
    if (answerLength >= 0) this.#res.writeHeader('Content-Length', String(answerLength))
    this.#res.endWithoutBody()
  }

  #writeHeaders(headers: readonly string[]): void {
    const res = this.#res
    for (let i = 0; i < headers.length; i += 2) {
      const value = headers[i + 1]!
      const verdict = judgeValue(value)
      if (verdict === REFUSED) continue
      res.writeHeader(headers[i]!, verdict === NEEDS_LATIN1 ? Buffer.from(value, 'latin1') : value)
    }
  }

  /** Runs inside cork. @internal */
  writeNow(chunk: Uint8Array): void {
    const res = this.#res
    if (this.#length < 0) {
      if (!res.write(chunk)) this.#waitForDrain()
      return
    }
    const from = res.getWriteOffset()
    this.#taken += chunk.length
    // More bytes than announced would be read by the client as its next response.
    if (this.#taken > this.#length) {
      this.#done()
      res.close()
      return
    }
    const [isSent, isComplete] = res.tryEnd(chunk, this.#length)
    if (isComplete) this.#done()
    else if (!isSent) {
      // The chunk is the reader's buffer, which the next read overwrites.
      this.#unsentFrom = res.getWriteOffset()
      this.#unsent = Buffer.from(chunk.subarray(this.#unsentFrom - from))
      this.#stalled.add(this)
      this.#waitForDrain()
    }
  }

  #waitForDrain(): void {
    this.#isWaiting = true
    if (this.#hasDrainHandler) return
    this.#hasDrainHandler = true
    this.#res.onWritable((offset) => this.#onWritable(offset))
  }

  /** Uncorking sends what uWS holds of earlier writes, which it does not do by itself once it calls us. */
  #onWritable(offset: number): boolean {
    if (this.isGone || this.#isDone) return true
    callbackDepth++
    this.#resumeIfDue()
    corked = this
    corkedOffset = offset
    this.#res.cork(drainCorked)
    const isDrained = this.#unsent === null
    if (isDrained && this.#isWaiting) {
      this.#isWaiting = false
      this.owner?.onClientDrain()
    }
    callbackDepth--
    return isDrained
  }

  #resumeIfDue(): void {
    if (!this.#isResumeDue) return
    this.#isResumeDue = false
    this.#unpause()
  }

  /** Runs inside cork: sends what the last tryEnd left, from the offset uWS has reached. @internal */
  drainNow(offset: number): void {
    const rest = this.#unsent
    if (rest === null) return
    const [isSent, isComplete] = this.#res.tryEnd(rest.subarray(offset - this.#unsentFrom), this.#length)
    if (!isSent && !isComplete) return
    this.#unsent = null
    if (!this.#isPaused) this.#stalled.remove(this)
    if (isComplete) this.#done()
  }

  /**
   * uWS closes a connection that could not be written to, or that we have not read from, for 10 s. A fresh attempt starts
   * that clock anew; one to read is none when a pause follows at once, but it ends the write events of a response.
   */
  retryStalled(): void {
    if (this.isGone || this.#isDone) return
    if (this.#unsent !== null) this.#onWritable(this.#res.getWriteOffset())
    else if (this.#isPaused && !this.#hasDrainHandler) {
      this.#res.resume()
      this.#res.pause()
    }
  }

  #done(): void {
    this.#isDone = true
    this.#stalled.remove(this)
    this.#unsent = null
    this.#forgetEarly()
  }

  #onAborted(): void {
    this.isGone = true
    this.#stalled.remove(this)
    this.#unsent = null
    this.#forgetEarly()
    if (this.#isDone) return
    this.#isDone = true
    this.owner?.onClientAbort()
  }

  /** Runs inside cork. @internal */
  endNow(): void {
    this.#res.end()
  }
}

type Answer = typeof ENDED_WITH_BODY | typeof ENDED_WITHOUT_BODY | typeof STARTED
const ENDED_WITH_BODY = 0
const ENDED_WITHOUT_BODY = 1
const STARTED = 2
const NO_HEADERS: readonly string[] = []

/** Above 0 while uWS has called us: its parser is on the stack. */
let callbackDepth = 0

/** Runs a uWS callback, so that answers know that the parser is on the stack. */
export function enterCallback(): void {
  callbackDepth++
}

export function leaveCallback(): void {
  callbackDepth--
}

// uWS calls the corked function at once, so its arguments can wait here; a closure for each response costs more.
let corked: UwsClientStream
let corkedChunk: Uint8Array
let corkedOffset = 0
let answerHow: Answer
let answerStatus = 0
let answerHeaders: readonly string[] = NO_HEADERS
let answerBody: Uint8Array | string = ''
let answerLength = -1

function answerCorked(): void {
  corked.answerNow()
}

function writeCorked(): void {
  corked.writeNow(corkedChunk)
}

function drainCorked(): void {
  corked.drainNow(corkedOffset)
}

function endCorked(): void {
  corked.endNow()
}
