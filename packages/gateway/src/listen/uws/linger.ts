import type { HttpResponse } from 'uWebSockets.js'
import { MAX_EARLY_BYTES } from './early-body.js'

const ROUND_MS = 1000
/** Maximum time in total, and without progress, in rounds (nginx's lingering_time and lingering_timeout). */
const MAX_ROUNDS = 30
const MAX_IDLE_ROUNDS = 5
/** Maximum number of lingering connections per process. Others close at once. */
const MAX_OPEN = 256

let open = 0

/** True if one more connection may linger. */
export function canLinger(): boolean {
  return open < MAX_OPEN
}

/**
 * Reads and drops the rest of a request body after its response (RFC 9112 section 9.6). Closing at once would reset the
 * connection, and clients that read the response only after sending the body would never see it.
 *
 *     response ─► the body ends, or a limit is reached ─► finish
 *
 * Meanwhile uWS must consider the response unfinished: it then closes the connection if another request arrives, and
 * reports a disconnect. So it is told a length one byte greater than that of the response.
 */
export class Linger {
  readonly #res: HttpResponse
  readonly #finish: () => void
  readonly #maxIdleRounds: number
  readonly #timer: NodeJS.Timeout
  /** True while the client has not accepted all of the response. */
  #isSending = false
  #bytes = 0
  #rounds = 0
  #idleRounds = 0
  #isBodyOver = false
  #isOver = false

  /**
   * @param isAnswered true if the client gets the whole response now. Otherwise its end may be delayed until the client
   * pauses.
   * @param finish ends the response or the connection, outside the parser.
   */
  constructor(res: HttpResponse, isAnswered: boolean, finish: () => void) {
    this.#res = res
    this.#finish = finish
    this.#maxIdleRounds = isAnswered ? MAX_IDLE_ROUNDS : 1
    this.#timer = setInterval(() => this.#onRound(), ROUND_MS)
    this.#timer.unref()
    open++
  }

  /**
   * Ends the head of a response without a body, because uWS would not wait for an empty one. Runs inside cork, like
   * `send`.
   * @param length Content-Length to announce, or -1 for none.
   */
  endHead(length: number): void {
    if (length >= 0) this.#res.writeHeader('Content-Length', String(length))
    this.#res.writeHeader('Connection', 'close\r\n')
  }

  /** Sends the body of a response after its head. */
  send(payload: Uint8Array | string): void {
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload
    const total = body.length + 1
    this.#res.tryEnd('', body.length)
    const [isSent] = this.#res.tryEnd(body, total)
    if (isSent) return
    const from = this.#res.getWriteOffset()
    const unsent = Buffer.from(body.subarray(from))
    this.#isSending = true
    this.#res.onWritable((offset) => {
      const [isDrained] = this.#res.tryEnd(unsent.subarray(offset - from), total)
      this.#idleRounds = 0
      this.#isSending = !isDrained
      if (isDrained && this.#isBodyOver) setImmediate(() => this.#end())
      return isDrained
    })
  }

  /** Waits for a client that is slow to read a chunked response. uWS does not report when all was read. */
  drain(): void {
    this.#isSending = true
    this.#res.onWritable(() => {
      this.#idleRounds = 0
      this.#res.cork(flush)
      return true
    })
  }

  /** Counts bytes of the request body. */
  add(bytes: number, isLast: boolean): void {
    this.#bytes += bytes
    this.#idleRounds = 0
    if (isLast) this.#isBodyOver = true
    if (this.#bytes > MAX_EARLY_BYTES) this.#res.close()
    else if (isLast && !this.#isSending) setImmediate(() => this.#end())
  }

  /** Called when the connection is gone. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#timer)
    open--
  }

  #onRound(): void {
    if (++this.#rounds >= MAX_ROUNDS || ++this.#idleRounds > this.#maxIdleRounds) this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.close()
    this.#finish()
  }
}

/** Empty: uncorking alone makes uWS send its buffered bytes. */
function flush(): void {}
