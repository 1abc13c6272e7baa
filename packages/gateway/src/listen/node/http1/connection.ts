import type net from 'node:net'
import { refusal } from '@sluice/core'
import type { Deadline } from '../../../lib/timer-wheel.js'
import { BROKEN } from '../../../protocol/http1/message-head.js'
import { SocketEnd } from '../../../protocol/websocket/socket-end.js'
import type { BodyReceiver } from '../../listener.js'
import type { Peer, ProtocolHandler } from '../socket/connection-host.js'
import { type SocketReader, unsentBytes } from '../socket/server-socket.js'
import { NodeClientStream, type StreamConnection } from './client-stream.js'
import { RequestBody } from './request-body.js'
import { type Http1Host, PREFACE, RequestReader } from './request-reader.js'
import { UpgradeStream } from './upgrade-stream.js'

const BAD_BODY = refusal('GW_BAD_REQUEST', 'the chunked coding of the request body is invalid')

/**
 * Time in which a client may still send on a closing connection, in total and without a pause, in milliseconds (nginx's
 * lingering_time).
 */
const LINGER_MS = 30_000
const LINGER_IDLE_MS = 5000
/** Bytes that a client may send ahead before reading stops. */
const MAX_HELD_BYTES = 64 * 1024
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

// Meaning of the next bytes.
const HEAD = 0
const BODY = 1
/** The request has been received and its response is in progress. Further bytes belong to the next request. */
const ANSWERING = 2
/** The response was written, but the client has not read it all. */
const DRAINING = 3
/** The connection is closing, so bytes are dropped. */
const SKIPPING = 4

/**
 * A client connection, which serves one request at a time:
 *
 *     head ─┬─► body ─► answering ─┬─► head …                    kept
 *           ├─► answering ─────────┼─► draining ─► head …        the client is slow
 *           └─► (refused) ─────────┴─► skipping ─► closed        further input is dropped
 *
 * Pipelined requests wait for the response before them. The socket is still read until 64 KB are waiting, to detect
 * that the client has disconnected.
 */
export class ClientConnection implements SocketReader, StreamConnection, Deadline {
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  isClosed = false
  readonly socket: net.Socket
  readonly #host: Http1Host
  readonly #requestReader: RequestReader
  readonly #body: RequestBody
  #state = HEAD
  #stream: NodeClientStream | null = null
  /** Bytes that were read but cannot be processed yet. */
  #held: Buffer | null = null
  #isReading = false
  #isPaused = false
  /** True once the client has closed its sending side. */
  #hasEnded = false
  waitsToContinue = false
  /** Monotonic time at which lingering ends. */
  #lingerUntil = 0
  #lastUnsent = 0
  /** Receiver of the bytes after a change to WebSocket or HTTP/2, or null. */
  #relayed: SocketReader | null = null

  constructor(socket: net.Socket, peer: Peer, host: Http1Host) {
    this.socket = socket
    this.#host = host
    this.#requestReader = new RequestReader(socket, peer, host)
    this.#body = new RequestBody(this.#requestReader.reader)
    socket.on('end', () => this.#guard(this.#onEnd))
    socket.on('drain', () => this.#guard(this.#onDrain))
    socket.on('error', () => this.#lost())
    socket.on('close', () => this.#lost())
    this.#arm(host.settings.headTimeoutMs)
  }

  // Input.

  onBytes(bytes: Buffer, length: number): void {
    if (this.isClosed || this.#state === SKIPPING) {
      if (this.#relayed !== null) this.#relayed.onBytes(bytes, length)
      else this.#touchLinger()
      return
    }
    if (this.#held !== null) {
      this.#hold(Buffer.concat([this.#held, bytes.subarray(0, length)]))
      return
    }
    this.#take(bytes, length)
  }

  /** Processes bytes. An exception ends only this connection. */
  #take(bytes: Buffer, to: number): void {
    this.#isReading = true
    try {
      const at = this.#process(bytes, to)
      if (at < to) this.#hold(Buffer.from(bytes.subarray(at, to)))
      // The body may have been paused and resumed meanwhile.
      else this.#resume()
    } catch (error) {
      this.#fault(error)
    } finally {
      this.#isReading = false
      this.#host.clock.drop()
    }
  }

  /** Processes bytes and returns the position reached. */
  #process(bytes: Buffer, to: number): number {
    let at = 0
    while (at < to && !this.isClosed) {
      if (this.#state === HEAD) at = this.#readHead(bytes, at, to)
      else if (this.#state === BODY && this.#body.isWanted) at = this.#readBody(bytes, at, to)
      else if (this.#state === SKIPPING) return to
      else return at
    }
    return to
  }

  #hold(bytes: Buffer): void {
    this.#held = bytes
    if (bytes.length > MAX_HELD_BYTES) this.#pause()
    else this.#resume()
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.socket.pause()
  }

  /** Processes the held bytes, then resumes reading, if possible. */
  #processHeld(): void {
    if (this.#isReading || this.isClosed) return
    const held = this.#held
    if (held !== null) {
      if (this.#state === ANSWERING || this.#state === DRAINING) return
      if (this.#state === BODY && !this.#body.isWanted) return
      this.#held = null
      this.#take(held, held.length)
    }
    if (this.#held !== null || this.isClosed) return
    if (this.#hasEnded) this.#onEnd()
    else this.#resume()
  }

  #resume(): void {
    if (!this.#isPaused || (this.#state === BODY && this.#body.isPaused)) return
    this.#isPaused = false
    this.socket.resume()
  }

  #onEnd(): void {
    this.#hasEnded = true
    if (this.#stream !== null && !this.#host.settings.allowHalfClose) this.destroy()
    if (this.#held !== null || this.isClosed) return
    // A response in progress closes the connection when it ends.
    if (this.#state === HEAD || (this.#state === SKIPPING && this.#stream === null)) this.socket.destroySoon()
    else if (this.#state === BODY) this.destroy()
    else if (this.#stream !== null) this.#stream.closeAfter = true
  }

  // Request heads.

  #readHead(bytes: Buffer, from: number, to: number): number {
    const isFirst = this.#requestReader.isUntouched
    const end = this.#requestReader.read(bytes, from, to)
    if (end >= 0) {
      this.#begin()
      return end
    }
    if (end === PREFACE) this.#handOver(this.#host.http2!)
    else if (isFirst) this.#arm(this.#host.settings.headTimeoutMs)
    return to
  }

  /** Starts the request whose head was read. */
  #begin(): void {
    const host = this.#host
    const { refused } = this.#requestReader
    const x = this.#requestReader.take()
    const taken = this.#requestReader.taken!
    const Stream = taken.asksForWebSocket ? UpgradeStream : NodeClientStream
    const stream = new Stream(this, taken)
    this.#stream = stream
    if (x.id === '') x.id = host.ids.next(x.startedAt)
    stream.requestId = x.id
    if (refused !== null) {
      this.#state = SKIPPING
      stream.closeAfter = true
      host.handler.refuse(x, stream, refused)
      return
    }
    stream.closeAfter = !taken.isKept || host.isClosing || taken.asksForWebSocket
    this.waitsToContinue = taken.waitsToContinue
    this.#body.begin(x.contentLength)
    this.#state = this.#body.isDone ? ANSWERING : BODY
    host.handler.accept(x, stream, host.settings)
  }

  /** Hands the socket over to another protocol handler. */
  #handOver(handler: ProtocolHandler): void {
    this.isClosed = true
    this.#host.wheel.disarm(this)
    this.#relayed = handler.accept(this.socket, this.#requestReader.peer, this.#requestReader.received)
  }

  get hasHeldBytes(): boolean {
    return this.#held !== null
  }

  switchTo(): SocketEnd {
    this.isClosed = true
    this.#stream = null
    this.#host.wheel.disarm(this)
    const end = new SocketEnd(this.socket)
    this.#relayed = end
    return end
  }

  // Request bodies.

  get hasWholeRequest(): boolean {
    return this.#state === ANSWERING || (this.#state === BODY && this.#body.isDone)
  }

  #readBody(bytes: Buffer, from: number, to: number): number {
    const at = this.#body.read(bytes, from, to)
    if (at === BROKEN) {
      this.#failBody()
      return to
    }
    if (this.#body.isDone && this.#state === BODY) this.#state = ANSWERING
    return at
  }

  #failBody(): void {
    const stream = this.#stream
    this.#state = SKIPPING
    if (stream === null || stream.isOver) return
    stream.closeAfter = true
    stream.owner?.onBodyInvalid(BAD_BODY)
  }

  readBody(receiver: BodyReceiver): void {
    this.#body.receiver = receiver
    if (this.#state !== BODY) return
    if (this.waitsToContinue && this.#held === null) this.socket.write(CONTINUE, 'latin1')
    this.waitsToContinue = false
    this.#processHeld()
  }

  pauseBody(): void {
    if (this.#state !== BODY) return
    this.#body.isPaused = true
    this.#pause()
  }

  resumeBody(): void {
    this.#body.isPaused = false
    this.#processHeld()
  }

  // Responses.

  onResponseEnd(): void {
    const stream = this.#stream
    this.#stream = null
    this.#body.receiver = null
    if (stream === null || this.isClosed) return
    if (stream.closeAfter || !this.hasWholeRequest) this.#close()
    else if (this.socket.writableNeedDrain && this.socket.writableLength > 0) {
      this.#state = DRAINING
      this.#lastUnsent = unsentBytes(this.socket)
      this.#arm(this.#host.settings.keepAliveMs)
    } else this.#next()
  }

  #next(): void {
    this.#state = HEAD
    this.#requestReader.begin()
    this.#arm(this.#host.settings.keepAliveMs)
    this.#processHeld()
  }

  #onDrain(): void {
    if (this.#state === DRAINING) this.#next()
    else this.#stream?.onDrain()
  }

  cut(byReset: boolean): void {
    if (byReset && this.#host.scheme === 'http') this.socket.resetAndDestroy()
    this.destroy()
  }

  // Closing.

  /**
   * Closes after the response. With unread bytes, the kernel would reset the connection, and the response might be
   * lost. So further input is read and dropped for a while (RFC 9112 section 9.6).
   */
  #close(): void {
    this.#state = SKIPPING
    this.#held = null
    if (this.#hasEnded) {
      this.socket.destroySoon()
      return
    }
    this.socket.end()
    this.#lingerUntil = this.#host.clock.now() + LINGER_MS
    this.#lastUnsent = unsentBytes(this.socket)
    this.#arm(LINGER_IDLE_MS)
    // The body may have been paused in the same read.
    this.#resume()
    this.#processHeld()
  }

  #touchLinger(): void {
    if (this.#stream === null)
      this.dueAt = Math.min(this.#host.clock.now() + LINGER_IDLE_MS, this.#lingerUntil)
  }

  #arm(ms: number): void {
    this.dueAt = this.#host.clock.now() + ms
    this.#host.wheel.arm(this)
  }

  onDeadline(): void {
    this.#guard(this.#handleDeadline)
  }

  #handleDeadline(): void {
    const { settings } = this.#host
    if (this.#state === BODY || this.#state === ANSWERING || this.#stream !== null)
      this.#arm(settings.keepAliveMs)
    else if (this.#state === HEAD && !this.#requestReader.isUntouched) this.#giveUpHead()
    else if (this.#state === HEAD || !this.#hasProgressed()) this.destroy()
    else this.#arm(LINGER_IDLE_MS)
  }

  #giveUpHead(): void {
    this.#requestReader.giveUp()
    this.#begin()
  }

  /** Returns true if the client has read some of the pending bytes since the last call. */
  #hasProgressed(): boolean {
    const unsent = unsentBytes(this.socket)
    const hasProgressed = unsent > 0 && unsent < this.#lastUnsent
    this.#lastUnsent = unsent
    return hasProgressed
  }

  destroy(): void {
    this.socket.destroy()
    this.#lost()
  }

  #lost(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#held = null
    this.#host.wheel.disarm(this)
    const stream = this.#stream
    this.#stream = null
    try {
      stream?.onGone()
    } catch (error) {
      this.#host.onFault(error)
    }
  }

  #guard(act: (this: ClientConnection) => void): void {
    if (this.isClosed) return
    try {
      act.call(this)
    } catch (error) {
      this.#fault(error)
    } finally {
      this.#host.clock.drop()
    }
  }

  #fault(error: unknown): void {
    this.#host.onFault(error)
    this.destroy()
  }
}
