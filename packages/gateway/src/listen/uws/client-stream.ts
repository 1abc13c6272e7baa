import type { HttpResponse } from 'uWebSockets.js'
import { HeaderCache } from '@sluice/core'
import { dateLine } from '../date-line.js'
import type { BodyReceiver, ClientOwner, ClientStream, UpgradeOffer } from '../listener.js'
import { checkField, formLine, NEEDS_LATIN1, STATUS_LINES } from '../response-head.js'
import { canLinger, type Linger } from './linger.js'
import { enterParser, isParserOnStack, leaveParser } from './parser-turn.js'
import { type BodyOwner, RequestBody } from './request-body.js'
import type { Stalled, StalledStreams } from './stalled-streams.js'

const FIELDS = new HeaderCache(formLine)

type Answer = typeof ENDED_WITH_BODY | typeof ENDED_WITHOUT_BODY | typeof STARTED
const ENDED_WITH_BODY = 0
const ENDED_WITHOUT_BODY = 1
const STARTED = 2
const NO_HEADERS: readonly string[] = []
const CLOSE = '\r\nConnection: close'

/**
 * A request and its response on a uWebSockets.js connection. This class follows the rules of uWS. Nothing is touched
 * after abort or end, and every write is corked. A request that may hide a second one is never answered inside the
 * parser's callback (docs/guides/engines.md).
 *
 * States of the response:
 *
 *     open ─ start ─► streaming ─ end ─► done        open ─ send ─► done
 */
export class UwsClientStream implements ClientStream, BodyOwner, Stalled {
  owner: ClientOwner | null = null
  closeAfter = false
  /** Exchange id, which is among the response fields and needs no validation. */
  requestId = ''
  /** True if bytes after this request must not be parsed as another one. Requires `closeAfter`. */
  isFinal = false
  isGone = false
  isOver = false
  isAnswered = false
  isWaiting = false
  hasWaited = false
  stalledNext: Stalled | null = null
  stalledPrevious: Stalled | null = null
  isStalled = false
  /** Always false: uWS has already sent `100 Continue`. */
  readonly waitsToContinue = false
  readonly #res: HttpResponse
  readonly #stalled: StalledStreams
  readonly #uwsCloses: boolean
  readonly #body: RequestBody | null
  /** Content-Length of a streamed response, or -1 if it is chunked. */
  #length = -1
  /** Length that uWS waits for: one byte more if it has to keep reading after the response. */
  #total = -1
  /** Bytes accepted for a response of known length. */
  #taken = 0
  #unsent: Uint8Array | null = null
  #unsentFrom = 0
  /** Arguments of the corked call. Writing them to a young object costs less than to a module variable. */
  #how: Answer = STARTED
  #status = 0
  #headers: readonly string[] = NO_HEADERS
  /** Body, or length to announce. Valid only inside cork. */
  #payload: Uint8Array | string | number = ''

  /**
   * @param uwsCloses true if uWS has seen `Connection: close` itself. It then closes after the response, without a
   * header.
   */
  constructor(res: HttpResponse, hasBody: boolean, uwsCloses: boolean, stalled: StalledStreams) {
    this.#res = res
    this.#uwsCloses = uwsCloses
    this.#stalled = stalled
    res.onAborted(() => this.#onAborted())
    this.#body = hasBody ? new RequestBody(res, this, stalled) : null
  }

  get upgrade(): UpgradeOffer | null {
    return null
  }

  readBody(receiver: BodyReceiver): void {
    this.#body?.read(receiver)
  }

  pauseBody(): void {
    this.#body?.pause()
  }

  resumeBody(): void {
    this.#body?.resume()
  }

  send(status: number, headers: readonly string[], body: Uint8Array | string | null): void {
    this.#answer(ENDED_WITH_BODY, status, headers, body ?? '')
  }

  sendHead(status: number, headers: readonly string[], length: number): void {
    this.#answer(ENDED_WITHOUT_BODY, status, headers, length)
  }

  start(status: number, headers: readonly string[], length: number): void {
    this.#length = length
    this.#total = length
    this.#answer(STARTED, status, headers, length)
  }

  write(chunk: Uint8Array): boolean {
    if (this.isOver) return true
    // A failed send while uncorking goes unnoticed, and would wait for as long as the body is paused.
    if (this.#body !== null && !this.#body.isDone) this.writeNow(chunk)
    else {
      corked = this
      corkedChunk = chunk
      this.#res.cork(writeCorked)
    }
    return this.#unsent === null && !this.isWaiting
  }

  end(): boolean {
    if (this.isOver) return true
    if (this.#length >= 0) return this.#endOfLength()
    this.#body?.resume()
    this.#finish()
    if (this.#lingersBehindStream) this.#body!.startLinger(false, () => this.#endChunks())
    else this.#endChunks()
    return true
  }

  #endChunks(): void {
    corked = this
    this.#res.cork(endCorked)
  }

  /** Ends a response of known length. uWS has ended it with its last byte, unless bytes are waiting or missing. */
  #endOfLength(): boolean {
    if (this.#taken === this.#length) return false
    this.abort()
    return true
  }

  abort(): void {
    if (this.isOver) return
    this.#finish()
    this.#res.close()
  }

  /** @param payload body, or length to announce. */
  #answer(
    how: Answer,
    status: number,
    headers: readonly string[],
    payload: Uint8Array | string | number,
  ): void {
    if (this.isOver) return
    const body = this.#body
    if (body !== null && !body.isDone) this.closeAfter = true
    if (how !== STARTED) {
      this.isAnswered = true
      body?.forget()
    }
    if (this.closeAfter && isParserOnStack()) {
      const kept = payload instanceof Uint8Array ? Buffer.from(payload) : payload
      setImmediate(() => this.#answer(how, status, headers, kept))
      return
    }
    if (how !== STARTED) {
      // A paused connection is not watched, so a disconnect would go unnoticed.
      body?.resume()
      this.#finish()
      if (this.#mustLinger) body!.startLinger(true, () => this.#res.close())
    }
    corked = this
    this.#how = how
    this.#status = status
    this.#headers = headers
    this.#payload = payload
    this.#res.cork(answerCorked)
  }

  /**
   * Sends the response inside cork. `end(…, true)` adds `Connection: close` unless the client sent it. After `write`,
   * it would put that header into the body. So a streamed response announces the close and leaves it to the client.
   * @internal
   */
  answerNow(): void {
    const res = this.#res
    const how = this.#how
    const linger = this.#body === null ? null : this.#body.linger
    if (linger !== null) {
      this.#answerAndLinger(linger)
      return
    }
    const isForced =
      this.closeAfter && (how === ENDED_WITH_BODY || (how === ENDED_WITHOUT_BODY && this.#body !== null))
    this.#writeHead(this.closeAfter && (!isForced || this.#uwsCloses) ? CLOSE : '')
    if (how === ENDED_WITH_BODY) res.end(this.#payload as Uint8Array | string, isForced)
    else if (how === ENDED_WITHOUT_BODY) this.#endWithoutBody(this.#payload as number, isForced)
  }

  #answerAndLinger(linger: Linger): void {
    const payload = this.#payload
    const hasBody = typeof payload !== 'number' && payload.length > 0
    this.#writeHead(hasBody ? CLOSE : dateLine())
    if (hasBody) linger.send(payload)
    else linger.endHead(typeof payload === 'number' ? payload : 0)
  }

  /** Ends without a body. Content-Length would make uWS wait for the body; with a forced close it must be absent. */
  #endWithoutBody(length: number, isForced: boolean): void {
    if (isForced) {
      this.#res.endWithoutBody(0, true)
      return
    }
    if (length >= 0) this.#res.writeHeader('Content-Length', String(length))
    this.#res.endWithoutBody()
  }

  /**
   * Writes fields and `more` lines together with the status line. A call into uWS for each costs more than all their
   * bytes.
   */
  #writeHead(more: string): void {
    const headers = this.#headers
    const status = STATUS_LINES[this.#status] ?? STATUS_LINES[502]!
    const lines = FIELDS.lines(headers, this.requestId)
    if (lines === null) this.#writeMixedHead(status + more, headers)
    else this.#res.writeStatus(more === '' ? status + lines : status + lines + more)
  }

  /** Writes fields with non-ASCII values one by one as bytes, because uWS would encode them as UTF-8. */
  #writeMixedHead(start: string, headers: readonly string[]): void {
    let head = start
    for (let i = 0; i < headers.length; i += 2) head += formLine(headers[i]!, headers[i + 1]!) ?? ''
    this.#res.writeStatus(head)
    for (let i = 0; i < headers.length; i += 2) {
      const value = headers[i + 1]!
      if (checkField(headers[i]!, value) === NEEDS_LATIN1)
        this.#res.writeHeader(headers[i]!, Buffer.from(value, 'latin1'))
    }
  }

  /** Writes a chunk, inside cork or outside. @internal */
  writeNow(chunk: Uint8Array): void {
    const res = this.#res
    if (this.#length < 0) {
      if (!res.write(chunk)) this.#waitForDrain()
      return
    }
    const from = res.getWriteOffset()
    this.#taken += chunk.length
    // The client would read excess bytes as its next response.
    if (this.#taken > this.#length) {
      this.#finish()
      res.close()
      return
    }
    if (this.#taken === this.#length) this.#prepareEnd(chunk.length)
    const [isSent, isComplete] = res.tryEnd(chunk, this.#total)
    if (isComplete || (isSent && this.#total > this.#length)) this.#complete()
    else if (!isSent) {
      // The chunk is in the reader's buffer, which the next read overwrites.
      this.#unsentFrom = res.getWriteOffset()
      this.#unsent = Buffer.from(chunk.subarray(this.#unsentFrom - from))
      this.#stalled.add(this)
      this.#waitForDrain()
    }
  }

  /**
   * Stops reading after a final request. A streamed response cannot close by force, so the rest stays unread until uWS
   * closes.
   */
  #stopReading(): void {
    if (this.isFinal) this.#res.pause()
  }

  /** Prepares for the last bytes of a response of known length. */
  #prepareEnd(bytes: number): void {
    if (this.#lingersBehindStream) {
      // uWS announces the first length that it gets.
      if (this.#taken === bytes) this.#res.tryEnd('', this.#length)
      this.#total = this.#length + 1
    } else this.#stopReading()
  }

  /** Handles the end of a response of known length. */
  #complete(): void {
    const lingers = this.#total > this.#length
    if (lingers || !this.isFinal) this.#body?.resume()
    this.#finish()
    if (lingers) this.#body!.startLinger(true, () => this.#res.close())
  }

  /** True if the connection closes after the response while the client may still be sending. */
  get #mustLinger(): boolean {
    return this.closeAfter && this.#body !== null && !this.#body.isDone && canLinger()
  }

  /** True if a streamed response must linger. uWS keeps reading unless it closes or must not read another request. */
  get #lingersBehindStream(): boolean {
    return (this.isFinal || this.#uwsCloses) && this.#mustLinger
  }

  get unsentBytes(): number {
    if (this.isOver || !this.isWaiting) return 0
    if (this.#unsent === null) return -1
    return this.#unsent.length - (this.#res.getWriteOffset() - this.#unsentFrom)
  }

  flush(): void {
    if (this.isOver || !this.hasWaited) return
    corked = this
    corkedOffset = this.#res.getWriteOffset()
    this.#res.cork(drainCorked)
  }

  #waitForDrain(): void {
    this.isWaiting = true
    if (this.hasWaited) return
    this.hasWaited = true
    this.#body?.clearPaused()
    this.#res.onWritable((offset) => this.#onWritable(offset))
  }

  /**
   * Handles room for more bytes. Uncorking sends what uWS holds of earlier writes; it does not do that by itself here.
   */
  #onWritable(offset: number): boolean {
    if (this.isOver) return true
    enterParser()
    try {
      corked = this
      corkedOffset = offset
      this.#res.cork(drainCorked)
      const isDrained = this.#unsent === null
      if (isDrained && this.isWaiting) {
        this.isWaiting = false
        this.owner?.onClientDrain()
      }
      return isDrained
    } finally {
      leaveParser()
    }
  }

  /** Sends the rest of the last tryEnd, from the offset that uWS has reached. Runs inside cork. @internal */
  drainNow(offset: number): void {
    const rest = this.#unsent
    if (rest === null) return
    const [isSent, isComplete] = this.#res.tryEnd(rest.subarray(offset - this.#unsentFrom), this.#total)
    if (!isSent && !isComplete) return
    this.#unsent = null
    this.#stalled.remove(this)
    if (isComplete || this.#total > this.#length) this.#complete()
  }

  /**
   * Ends the exchange without a response of this class, because the connection becomes a WebSocket. Runs inside cork.
   */
  protected writeSwitch(headers: readonly string[]): void {
    this.#status = 101
    this.#headers = headers
    this.#writeHead('')
    this.#finish()
  }

  /** Retries a stalled write, because uWS closes a connection without a successful write for 10 s. */
  retryStalled(): void {
    if (this.isOver || this.#unsent === null) return
    this.#onWritable(this.#res.getWriteOffset())
  }

  /** Marks the response as over. From here on, only the call that ends the uWS object may touch it. */
  #finish(): void {
    this.isOver = true
    this.#stalled.remove(this)
    this.#unsent = null
    this.#body?.close()
  }

  #onAborted(): void {
    this.isGone = true
    const wasOver = this.isOver
    this.#finish()
    if (!wasOver) this.owner?.onClientAbort()
  }

  /** Ends a chunked response inside cork. @internal */
  endNow(): void {
    this.#stopReading()
    this.#res.end()
  }
}

// uWS calls the corked function synchronously, so its arguments can be passed here. A closure per response cost 1.5 %
// of a POST of 1 KB (562 rounds of short slices).
let corked: UwsClientStream
let corkedChunk: Uint8Array
let corkedOffset = 0

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
