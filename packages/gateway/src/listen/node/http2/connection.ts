import type { Socket } from 'node:net'
import type { ReceivedExchange } from '@sluice/core'
import { DataSender, INITIAL_WINDOW } from '../../../protocol/http2/data-sender.js'
import { BYTES_A_REQUEST, FloodMeter } from '../../../protocol/http2/flood-meter.js'
import { FrameReader, type FrameReceiver } from '../../../protocol/http2/frame-reader.js'
import { FrameWriter } from '../../../protocol/http2/frame-writer.js'
import { ERROR, FLAG, FRAME, HEAD_BYTES } from '../../../protocol/http2/frames.js'
import { type PeerSettings, SETTING, writeSettings } from '../../../protocol/http2/settings-frame.js'
import { beginExchange, type ConnectionHost, type Peer } from '../socket/connection-host.js'
import type { SocketReader } from '../socket/server-socket.js'
import { Http2ClientStream, STREAM_WINDOW, type StreamOwner } from './client-stream.js'
import { areTrailers, MALFORMED, type RequestFields } from './request-fields.js'
import type { StreamQueue } from './stream-queue.js'

/** Time that a client has to read a response if there is no minimum rate, in milliseconds. */
const LONGEST_LINGER_MS = 600_000
/** A client that reads nothing while more bytes than this are waiting is closed earlier than `minReadRate` requires. */
const STALLED_BYTES = 1024 * 1024
/** Bytes waiting in the socket, such as replies to PING, from which reading pauses. */
const MAX_SOCKET_BYTES = 256 * 1024
/** Flow-control window of a connection in bytes. */
const CONNECTION_WINDOW = 1024 * 1024
/** Bytes that a SETTINGS frame counts in addition to its own, because it can make every stream send one byte. */
const SETTINGS_COST = 1024
/** Time that a client has to read the last frames of a connection that ends with an error, in milliseconds. */
const CLOSE_MS = 5000
/** Bytes that may wait for a client, per stream that it may open. New streams are refused beyond it. */
const HELD_BYTES_PER_STREAM = 200 * 1024

/** Parts that the connections of a listener share. */
export interface ConnectionContext
  extends Pick<
    ConnectionHost,
    'scheme' | 'settings' | 'handler' | 'ids' | 'clock' | 'onFault' | 'isClosing'
  > {
  readonly fields: RequestFields
  readonly queue: StreamQueue
  readonly lingerMs: number
  /** Called when a connection is closed because it exceeds a limit. */
  readonly onRejected: () => void
  onBytesHeld(bytes: number): void
  onConnectionClose(connection: Http2Connection): void
}

/** An HTTP/2 connection: its streams, windows and timeouts, and its limits against abuse. */
export class Http2Connection implements SocketReader, FrameReceiver, StreamOwner {
  /** True once GOAWAY with an error was sent or the socket has closed. */
  isEnded = false
  readonly #socket: Socket
  readonly #peer: Peer
  readonly #context: ConnectionContext
  readonly #reader: FrameReader
  readonly #writer: FrameWriter
  readonly #streams = new Map<number, Http2ClientStream>()
  readonly sender: DataSender
  readonly #meter: FloodMeter
  readonly #maxStreams: number
  #lastStream = 0
  /** Last stream named by GOAWAY. Later ones are not started. */
  #lastServed = Number.POSITIVE_INFINITY
  /** True once the client has acknowledged the maximum number of streams. */
  #isAcknowledged = false
  #receivedBytes = 0
  #isPaused = false
  /** Monotonic time in milliseconds when the last stream closed. */
  #idleSinceMono = performance.now()
  /** Bytes written at the last inspection, and the time of the last progress. */
  #writtenBytes = 0
  #progressMono = this.#idleSinceMono
  readonly onBytesQueued = (bytes: number): void => this.#context.onBytesHeld(bytes)
  /** Number of complete heads at the last inspection, and the time since which the next one is incomplete. */
  #heads = 0
  #headSinceMono = this.#idleSinceMono

  constructor(socket: Socket, peer: Peer, context: ConnectionContext) {
    const { settings } = context
    this.#socket = socket
    this.#peer = peer
    this.#context = context
    this.#meter = new FloodMeter(socket)
    this.#writer = new FrameWriter(socket)
    this.sender = new DataSender(this.#writer)
    this.#maxStreams = settings.http2?.streams ?? 100
    // Far above the limits of the listener, so that it can answer 431. A cookie may arrive as one field per pair.
    const maxBytes = Math.max(65_536, 4 * settings.headerBytes)
    this.#reader = new FrameReader(this, { maxFields: 4 * settings.headers + 256, maxBytes }, true)
    writeSettings(this.#writer, [
      [SETTING.maxConcurrentStreams, this.#maxStreams],
      [SETTING.initialWindowSize, STREAM_WINDOW],
      [SETTING.maxHeaderListSize, maxBytes],
    ])
    this.#writer.numbers(FRAME.windowUpdate, 0, 0, CONNECTION_WINDOW - INITIAL_WINDOW)
    // A 'close' event follows each error.
    socket.on('error', () => {})
    socket.on('close', () => this.#onClose())
    socket.on('drain', () => this.#guard(this.#onDrain))
    socket.on('end', () => this.#guard(this.#onEnd))
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.isEnded) return
    try {
      const error = this.#reader.read(length === bytes.length ? bytes : bytes.subarray(0, length))
      if (error !== ERROR.none) this.#end(error)
      else if (this.#meter.isSpent(length)) this.endFlood()
      else if (this.#socket.writableLength > MAX_SOCKET_BYTES && !this.#isPaused) {
        this.#isPaused = true
        this.#socket.pause()
      }
    } catch (error) {
      this.#fault(error)
    } finally {
      this.#context.clock.drop()
    }
  }

  /**
   * Closes the connection after its requests in progress. GOAWAY names the last one: a client may repeat later ones.
   */
  close(): void {
    if (this.isEnded || this.isClosing) return
    this.#lastServed = this.#lastStream
    this.#writer.numbers(FRAME.goaway, 0, 0, this.#lastStream, ERROR.none)
    this.#endIfDone()
  }

  get isClosing(): boolean {
    return this.#lastServed !== Number.POSITIVE_INFINITY
  }

  #endIfDone(): void {
    if (!this.isClosing || this.#streams.size > 0) return
    this.#writer.flush()
    this.#socket.end()
  }

  /** Handles a half-closed connection. The client can no longer send the window updates that its responses need. */
  #onEnd(): void {
    if (this.#context.settings.allowHalfClose) this.close()
    else this.terminate()
  }

  terminate(): void {
    this.#socket.destroy()
    this.#onClose()
  }

  /** Ends the connection with an error (RFC 9113 section 5.4.1). */
  #end(code: number): void {
    if (this.isEnded) return
    this.#writer.numbers(FRAME.goaway, 0, 0, this.#lastStream, code)
    this.#writer.flush()
    this.#socket.destroySoon()
    setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref()
    this.#onClose()
  }

  #onClose(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.#context.onConnectionClose(this)
    for (const stream of this.#streams.values()) stream.onGone()
  }

  #guard(act: (this: Http2Connection) => void): void {
    if (this.isEnded) return
    try {
      act.call(this)
    } catch (error) {
      this.#fault(error)
    } finally {
      this.#context.clock.drop()
    }
  }

  #fault(error: unknown): void {
    this.#context.onFault(error)
    this.#end(ERROR.internal)
  }

  // Limits.

  /** Bytes held for the client, including cookies. */
  get heldBytes(): number {
    let bytes = this.#socket.writableLength + this.#reader.heldBytes
    for (const stream of this.#streams.values()) bytes += stream.unsentBytes + stream.crumbBytes
    return bytes
  }

  /** Bytes of request bodies that wait for their receivers. */
  get unreadBytes(): number {
    return [...this.#streams.values()].reduce((sum, { unreadBytes }) => sum + unreadBytes, 0)
  }

  /** Returns the time for which the client has read nothing while bytes were waiting, or 0, in milliseconds. */
  stalledMs(nowMono: number): number {
    return nowMono - this.#progressMono
  }

  /** Checks the limits of the connection. Called at intervals. */
  inspect(nowMono: number): void {
    const { settings, lingerMs } = this.#context
    const { heldBytes } = this
    if (this.#socket.bytesWritten !== this.#writtenBytes || heldBytes === 0) {
      this.#writtenBytes = this.#socket.bytesWritten
      this.#progressMono = nowMono
    }
    const idleMs = this.#streams.size === 0 ? nowMono - this.#idleSinceMono : 0
    for (const stream of this.#streams.values()) {
      if (stream.handedOverMono !== 0 && nowMono > this.#lingerEnd(stream)) stream.cancel()
    }
    const isStalled = heldBytes >= STALLED_BYTES && this.stalledMs(nowMono) > lingerMs
    if (isStalled || this.#isHeadLate(nowMono)) this.endFlood()
    else if (!this.isClosing) {
      if (idleMs > settings.keepAliveMs) this.close()
      // GOAWAY was sent, but the client has not closed the connection.
    } else if (idleMs > settings.keepAliveMs + lingerMs) this.#socket.destroy()
  }

  /** Returns true if the preface or the present head is incomplete after the time limit for heads. */
  #isHeadLate(nowMono: number): boolean {
    const { heads, isInHead } = this.#reader
    if (!isInHead || heads !== this.#heads) this.#headSinceMono = nowMono
    this.#heads = heads
    return nowMono - this.#headSinceMono > this.#context.settings.headTimeoutMs
  }

  /** Returns the monotonic time in milliseconds by which the client must have read its response. */
  #lingerEnd({ handedOverMono, handedOverBytes }: Http2ClientStream): number {
    const { lingerMs, settings } = this.#context
    if (settings.minReadRate === 0) return handedOverMono + LONGEST_LINGER_MS
    return handedOverMono + lingerMs + (handedOverBytes * 1000) / settings.minReadRate
  }

  /** Closes a connection that exceeds a limit. */
  endFlood(): void {
    if (this.isEnded) return
    this.#context.onRejected()
    this.#end(ERROR.enhanceYourCalm)
  }

  #countReset(): void {
    if (this.#meter.isResetTooMuch(performance.now())) this.endFlood()
  }

  // Requests.

  onFields(id: number, fields: string[], isEnd: boolean, isTooLarge: boolean): number {
    const stream = this.#streams.get(id)
    if (stream !== undefined) return this.#onTrailers(stream, fields, isEnd, isTooLarge)
    if (id % 2 === 0) return ERROR.protocol
    // The stream has closed, or it crossed GOAWAY.
    if (id <= this.#lastStream || id > this.#lastServed) return ERROR.none
    this.#lastStream = id
    if (this.#streams.size >= this.#maxStreams && this.#isAcknowledged) return ERROR.enhanceYourCalm
    const isRefused = this.#streams.size >= this.#maxStreams || this.#holdsTooMuch()
    if (isTooLarge || isRefused) {
      this.#writer.numbers(FRAME.reset, 0, id, isRefused ? ERROR.refusedStream : ERROR.enhanceYourCalm)
      this.#countReset()
      return ERROR.none
    }
    const client = new Http2ClientStream(this, id, this.sender.initialWindow, !isEnd)
    this.#streams.set(id, client)
    this.#meter.earn(this.#reader.blockBytes + BYTES_A_REQUEST)
    this.#queue(client, fields)
    return ERROR.none
  }

  #holdsTooMuch(): boolean {
    return this.sender.pending.size > 0 && this.heldBytes > this.#maxStreams * HELD_BYTES_PER_STREAM
  }

  #onTrailers(stream: Http2ClientStream, fields: string[], isEnd: boolean, isTooLarge: boolean): number {
    if (stream.isReceived) stream.reset(ERROR.streamClosed)
    else if (!isEnd || isTooLarge || !areTrailers(fields)) stream.reset(ERROR.protocol)
    else stream.onTrailers(fields)
    return ERROR.none
  }

  #queue(client: Http2ClientStream, fields: string[]): void {
    const { queue } = this.#context
    if (queue.begin()) {
      this.#dispatch(client, fields)
      queue.end()
      return
    }
    queue.wait({
      dispatch: () => this.#dispatch(client, fields),
      refuse: () => client.reset(ERROR.refusedStream),
    })
  }

  #dispatch(client: Http2ClientStream, fields: string[]): void {
    // The client reset the stream while it waited.
    if (client.isGone) return
    try {
      this.#take(client, fields)
    } catch (error) {
      this.#context.onFault(error)
      client.reset(ERROR.internal)
    } finally {
      this.#context.clock.drop()
    }
  }

  #take(client: Http2ClientStream, list: string[]): void {
    const { handler, settings, ids, isClosing, fields } = this.#context
    const x: ReceivedExchange = beginExchange(this.#context, this.#peer)
    x.httpVersion = '2'
    const refused = fields.apply(x, list, client.hasBody, settings)
    if (refused === MALFORMED) client.reset(ERROR.protocol)
    else client.expect(fields.hasLength ? x.contentLength : -1)
    if (client.isGone) return
    client.waitsToContinue = fields.waitsToContinue
    client.crumbBytes = fields.crumbBytes
    if (client.crumbBytes > 0) this.#context.onBytesHeld(client.crumbBytes)
    if (isClosing) this.close()
    if (x.id === '') x.id = ids.next(x.startedAt)
    if (refused !== null) handler.refuse(x, client, refused)
    else handler.accept(x, client, settings)
  }

  onData(id: number, data: Buffer, size: number, isEnd: boolean): number {
    if (this.#isIdle(id)) return ERROR.protocol
    // The windows of the streams bound what is held, so the connection's window only follows what arrives.
    this.#receivedBytes += size
    if (this.#receivedBytes > CONNECTION_WINDOW / 2) {
      this.#writer.numbers(FRAME.windowUpdate, 0, 0, this.#receivedBytes)
      this.#receivedBytes = 0
    }
    const stream = this.#streams.get(id)
    if (stream === undefined) {
      this.#meter.earnLate(size)
      return ERROR.none
    }
    if (data.length > 0) this.#meter.earn(data.length + HEAD_BYTES)
    if (stream.isReceived) stream.reset(ERROR.streamClosed)
    else if (!stream.onData(data, size, isEnd)) return ERROR.flowControl
    return ERROR.none
  }

  /** Returns true if the client has not opened the stream. After GOAWAY, later ones are ignored. */
  #isIdle(id: number): boolean {
    return id % 2 === 0 || (id > this.#lastStream && !this.isClosing)
  }

  // Other frames.

  onReset(id: number): number {
    if (this.#isIdle(id)) return ERROR.protocol
    this.#streams.get(id)?.onGone()
    return ERROR.none
  }

  onPing(payload: Buffer, isAck: boolean): void {
    if (!isAck) this.#writer.bytes(FRAME.ping, FLAG.ack, 0, payload)
  }

  onSettingsAck(): void {
    this.#isAcknowledged = true
  }

  onGoaway(): number {
    return ERROR.none
  }

  onSettings({ initialWindow = this.sender.initialWindow }: PeerSettings): number {
    this.#writer.numbers(FRAME.settings, FLAG.ack, 0)
    this.#meter.earn(-SETTINGS_COST)
    return this.sender.setInitialWindow(initialWindow, this.#streams.values())
  }

  onWindowUpdate(id: number, bytes: number): number {
    if (id === 0) return this.sender.growWindow(bytes)
    if (this.#isIdle(id)) return ERROR.protocol
    const stream = this.#streams.get(id)
    // An invalid update counts as a reset, because the client caused it (CVE-2025-8671).
    if (stream === undefined && bytes === 0) this.#countReset()
    const error = stream === undefined ? ERROR.none : this.sender.growStreamWindow(stream.outgoing, bytes)
    if (error !== ERROR.none) stream!.reset(error)
    return ERROR.none
  }

  // Responses.

  #onDrain(): void {
    if (this.#isPaused) this.#socket.resume()
    this.#isPaused = false
    this.sender.pump()
  }

  onStreamClose(stream: Http2ClientStream, isEarly: boolean): void {
    this.#streams.delete(stream.id)
    this.#meter.expectLate(stream.lateBytes)
    this.#idleSinceMono = performance.now()
    if (isEarly && !this.isEnded) this.#countReset()
    this.#endIfDone()
  }
}
