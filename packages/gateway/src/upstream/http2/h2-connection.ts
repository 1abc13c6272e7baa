import type { Socket } from 'node:net'
import type { CachedClock } from '../../lib/cached-clock.js'
import { DataSender, INITIAL_WINDOW } from '../../protocol/http2/data-sender.js'
import { BYTES_A_REQUEST, FloodMeter } from '../../protocol/http2/flood-meter.js'
import { FrameReader, type FrameReceiver } from '../../protocol/http2/frame-reader.js'
import { FrameWriter } from '../../protocol/http2/frame-writer.js'
import { ERROR, FLAG, FRAME, HEAD_BYTES, PREFACE } from '../../protocol/http2/frames.js'
import { type PeerSettings, SETTING, writeSettings } from '../../protocol/http2/settings-frame.js'
import { FAILURES, failureOf } from '../transport/failure.js'
import type { Failure } from '../transport/transport.js'
import { H2Stream, STREAM_WINDOW, type StreamAttempt, type StreamConnection } from './h2-stream.js'

/** Flow-control window of a connection in bytes. */
const CONNECTION_WINDOW = 1024 * 1024
/**
 * Response bytes of this worker that wait for slow clients, although their connections' windows are open again. Otherwise
 * a few slow clients would stall all streams of a connection.
 */
export const UNREAD_RESPONSES = { bytes: 0, maxBytes: 64 * 1024 * 1024 }
/** Number of unsent bytes, such as replies to PING, at which reading pauses. */
const MAX_SOCKET_BYTES = 256 * 1024
/** Maximum number of fields of a response, and bytes that each adds to the size limit of heads. */
const MAX_FIELDS = 256
const FIELD_BYTES = 32
/** Bytes counted for a SETTINGS frame in addition to its size, because it can make every stream send one byte. */
const SETTINGS_COST = 1024
/** Time that a target has to read the last frames of a connection, in milliseconds. */
const CLOSE_MS = 5000
/** Largest stream number (RFC 9113 section 5.1.1). */
const LAST_STREAM = 2 ** 31 - 1

/** Owner of a connection. */
export interface H2ConnectionOwner {
  /** Called when the target has announced how many streams it allows. */
  onLimit(streams: number): void
  /** Called after GOAWAY, before the streams that the target will not process fail. */
  onGoaway(): void
  onStreamOver(): void
  /** Checks if the target is still reachable. */
  checkTarget(): void
  /** Called when the connection is lost, after its streams have failed. */
  onClosed(): void
}

/** An open HTTP/2 connection to a target, with its streams, windows, and limits against abuse. */
export class H2Connection implements FrameReceiver, StreamConnection {
  isEnded = false
  readonly isSecure: boolean
  readonly sender: DataSender
  readonly #socket: Socket
  readonly #owner: H2ConnectionOwner
  readonly #clock: CachedClock
  readonly #reader: FrameReader
  readonly #writer: FrameWriter
  readonly #meter: FloodMeter
  readonly #streams = new Map<number, H2Stream>()
  #nextStream = 1
  /** Bytes delivered since the last WINDOW_UPDATE, and those that the target may send. */
  #delivered = 0
  #window = CONNECTION_WINDOW
  #isPaused = false
  #onPong: (() => void) | null = null

  constructor(
    socket: Socket,
    options: { readonly maxHeaderBytes: number; readonly clock: CachedClock },
    owner: H2ConnectionOwner,
  ) {
    const maxBytes = options.maxHeaderBytes + MAX_FIELDS * FIELD_BYTES
    this.#socket = socket
    this.#owner = owner
    this.#clock = options.clock
    this.isSecure = 'encrypted' in socket
    this.#meter = new FloodMeter(socket)
    this.#writer = new FrameWriter(socket)
    this.sender = new DataSender(this.#writer)
    this.#reader = new FrameReader(this, { maxFields: MAX_FIELDS, maxBytes }, false)
    socket.write(PREFACE)
    writeSettings(this.#writer, [
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, STREAM_WINDOW],
      [SETTING.maxHeaderListSize, maxBytes],
    ])
    this.#writer.numbers(FRAME.windowUpdate, 0, 0, CONNECTION_WINDOW - INITIAL_WINDOW)
    socket.on('data', (chunk) => this.#onBytes(chunk))
    socket.on('drain', () => this.#onDrain())
    socket.on('error', (error) => this.#lose(failureOf(error)))
    // A target that sends nothing more cannot respond either.
    socket.on('end', () => this.destroy())
    socket.on('close', () => this.#lose(FAILURES.reset))
  }

  /** True if no more streams can be opened. */
  get isSpent(): boolean {
    return this.isEnded || this.#nextStream > LAST_STREAM
  }

  /** Opens a stream for an attempt. */
  open(attempt: StreamAttempt): H2Stream {
    const stream = new H2Stream(attempt, this, this.#nextStream)
    this.#streams.set(this.#nextStream, stream)
    this.#nextStream += 2
    return stream
  }

  /** Sends a PING. The callback replaces that of an earlier PING. */
  ping(onPong: () => void): void {
    this.#onPong = onPong
    this.#writer.bytes(FRAME.ping, 0, 0, Buffer.alloc(8))
  }

  /** Closes a connection without streams. */
  close(): void {
    this.#end(ERROR.none, FAILURES.reset)
  }

  destroy(): void {
    this.#socket.destroy()
    this.#lose(FAILURES.reset)
  }

  /** Sends GOAWAY and closes (RFC 9113 section 5.4.1). */
  #end(code: number, failure: Failure): void {
    if (this.isEnded) return
    this.#writer.numbers(FRAME.goaway, 0, 0, 0, code)
    this.#writer.flush()
    this.#socket.destroySoon()
    setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref()
    this.#lose(failure)
  }

  #lose(failure: Failure): void {
    if (this.isEnded) return
    this.isEnded = true
    for (const stream of [...this.#streams.values()]) stream.onLost(failure)
    this.#owner.onClosed()
  }

  #onBytes(bytes: Buffer): void {
    if (this.isEnded) return
    this.#clock.read()
    try {
      const error = this.#reader.read(bytes)
      if (error !== ERROR.none) this.#end(error, FAILURES.invalid)
      else if (this.#meter.isSpent(bytes.length)) this.#end(ERROR.enhanceYourCalm, FAILURES.invalid)
      else if (this.#socket.writableLength > MAX_SOCKET_BYTES && !this.#isPaused) {
        this.#isPaused = true
        this.#socket.pause()
      }
    } finally {
      this.#clock.drop()
    }
  }

  #onDrain(): void {
    if (this.isEnded) return
    if (this.#isPaused) this.#socket.resume()
    this.#isPaused = false
    this.sender.pump()
  }

  // Streams.

  onStreamClose(stream: H2Stream): void {
    this.#streams.delete(stream.id)
    this.#meter.expectLate(stream.lateBytes)
    this.#owner.onStreamOver()
  }

  checkTarget(): void {
    this.#owner.checkTarget()
  }

  lend(bytes: number): boolean {
    if (UNREAD_RESPONSES.bytes + bytes > UNREAD_RESPONSES.maxBytes) return false
    UNREAD_RESPONSES.bytes += bytes
    this.#openWindow(bytes)
    return true
  }

  onDelivered(bytes: number, lent = 0): void {
    UNREAD_RESPONSES.bytes -= lent
    this.#openWindow(bytes - lent)
  }

  /** Lets the target send more, once half of the rest of the window is used. */
  #openWindow(bytes: number): void {
    this.#delivered += bytes
    if (this.#delivered < Math.max(this.#window, 1) || this.isEnded) return
    this.#writer.numbers(FRAME.windowUpdate, 0, 0, this.#delivered)
    this.#window += this.#delivered
    this.#delivered = 0
  }

  // Frames.

  /** Returns true if this end has not opened the stream. */
  #isIdle(id: number): boolean {
    return id % 2 === 0 || id >= this.#nextStream
  }

  /** Returns a stream whose response has not been received completely. */
  #receiving(id: number): H2Stream | undefined {
    const stream = this.#streams.get(id)
    return stream?.isReceived === true ? undefined : stream
  }

  onFields(id: number, fields: string[], isEnd: boolean, isTooLarge: boolean): number {
    if (this.#isIdle(id)) return ERROR.protocol
    const stream = this.#receiving(id)
    if (stream === undefined) this.#meter.earnLate(this.#reader.blockBytes)
    else {
      this.#meter.earn(this.#reader.blockBytes + BYTES_A_REQUEST)
      stream.onFields(fields, isEnd, isTooLarge)
    }
    return ERROR.none
  }

  onData(id: number, data: Buffer, size: number, isEnd: boolean): number {
    if (this.#isIdle(id)) return ERROR.protocol
    this.#window -= size
    if (this.#window < 0) return ERROR.flowControl
    const stream = this.#receiving(id)
    if (stream === undefined) {
      this.#meter.earnLate(size)
      this.onDelivered(size)
      return ERROR.none
    }
    if (data.length > 0) this.#meter.earn(size + HEAD_BYTES)
    return stream.onData(data, size, isEnd) ? ERROR.none : ERROR.flowControl
  }

  onReset(id: number, code: number): number {
    if (this.#isIdle(id)) return ERROR.protocol
    this.#streams.get(id)?.onLost(code === ERROR.refusedStream ? FAILURES.unprocessed : FAILURES.reset)
    return ERROR.none
  }

  onPing(payload: Buffer, isAck: boolean): void {
    if (!isAck) this.#writer.bytes(FRAME.ping, FLAG.ack, 0, payload)
    else this.#onPong?.()
  }

  onSettingsAck(): void {}

  onSettings({ initialWindow = this.sender.initialWindow, maxStreams }: PeerSettings): number {
    this.#writer.numbers(FRAME.settings, FLAG.ack, 0)
    this.#meter.earn(-SETTINGS_COST)
    if (maxStreams !== undefined) this.#owner.onLimit(maxStreams)
    return this.sender.setInitialWindow(initialWindow, this.#streams.values())
  }

  onGoaway(lastStream: number): number {
    this.#owner.onGoaway()
    for (const stream of [...this.#streams.values()])
      if (stream.id > lastStream) stream.onLost(FAILURES.unprocessed)
    return ERROR.none
  }

  onWindowUpdate(id: number, bytes: number): number {
    if (id === 0) return this.sender.growWindow(bytes)
    if (this.#isIdle(id)) return ERROR.protocol
    const stream = this.#streams.get(id)
    const error = stream === undefined ? ERROR.none : this.sender.growStreamWindow(stream.outgoing, bytes)
    if (error !== ERROR.none) stream!.fail(FAILURES.invalid, error)
    return ERROR.none
  }
}
