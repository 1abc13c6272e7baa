import type { HttpResponse } from 'uWebSockets.js'
import { MAX_EARLY_BYTES } from './early-body.js'

const ROUND_MS = 1000
/** Longest time in all, and without progress (nginx's lingering_time and lingering_timeout). */
const MAX_ROUNDS = 30
const MAX_IDLE_ROUNDS = 5
/** Most connections of a process that linger; others close at once. */
const MAX_OPEN = 256

let open = 0

/** True if one more connection may linger. */
export function canLinger(): boolean {
  return open < MAX_OPEN
}

/**
 * Reads and drops the rest of a request body that has its answer (RFC 9112 section 9.6). To close at once would reset the
 * connection: clients that read the answer behind the body would never see it.
 *
 *     answer ─► the body ends, or a bound is reached ─► finish
 *
 * uWS must take the response for unfinished meanwhile: it closes the connection if another request comes, and tells of its
 * end. So it is told of one byte more than the response has.
 */
export class Linger {
  readonly #res: HttpResponse
  readonly #finish: () => void
  readonly #maxIdleRounds: number
  readonly #timer: NodeJS.Timeout
  /** The client has not taken all of the response so far. */
  #isSending = false
  #bytes = 0
  #rounds = 0
  #idleRounds = 0
  #isBodyOver = false
  #isOver = false

  /**
   * @param isAnswered True if the client gets the whole response now. Otherwise it may wait for the end of it, and gets it
   * as soon as it pauses.
   * @param finish ends the response or the connection, with the parser off the stack.
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
   * Ends the head of a response without a body: uWS would not wait for one of no bytes. Runs inside cork, like `send`.
   * @param length the Content-Length to announce; -1: none.
   */
  endHead(length: number): void {
    if (length >= 0) this.#res.writeHeader('Content-Length', String(length))
    this.#res.writeHeader('Connection', 'close\r\n')
  }

  /** Sends the body of a response behind the lines of its head. */
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

  /** Waits for a client that is behind with a response in chunks: uWS does not say when it has taken all, so until it rests. */
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

/** uWS sends what it holds when it uncorks. */
function flush(): void {}
