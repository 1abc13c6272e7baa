import type { FrameWriter } from './frame-writer.js'
import { ERROR, FLAG, FRAME, MAX_PAYLOAD, MAX_WINDOW } from './frames.js'

/** Windows before SETTINGS and WINDOW_UPDATE change them (RFC 9113 section 6.9.2). */
export const INITIAL_WINDOW = 65_535

/** A stream whose body is being sent. */
export interface SendingStream {
  readonly id: number
  /** Bytes that the peer's window for the stream allows. */
  sendWindow: number
  /** Bytes of data that wait for the peer. */
  readonly unsentBytes: number
  /** Sends the next queued bytes, at most a frame. Returns true if nothing is queued any more. */
  pump(): boolean
}

/** Sends the bodies of a connection within the peer's flow-control windows (RFC 9113 section 5.2). */
export class DataSender {
  readonly writer: FrameWriter
  /** Window of a new stream, which the peer can change. */
  initialWindow = INITIAL_WINDOW
  /** Streams with data that waits for a window or for the socket. */
  readonly pending = new Set<SendingStream>()
  #window = INITIAL_WINDOW

  constructor(writer: FrameWriter) {
    this.writer = writer
  }

  /** Sends as many bytes as the windows and the socket allow, and returns their number. */
  sendData(stream: SendingStream, bytes: Uint8Array, isEnd: boolean): number {
    let sent = 0
    if (bytes.length === 0) this.writer.bytes(FRAME.data, FLAG.endStream, stream.id, bytes)
    while (sent < bytes.length && !this.writer.isBlocked) {
      const size = Math.min(bytes.length - sent, MAX_PAYLOAD, stream.sendWindow, this.#window)
      if (size <= 0) break
      const part = size === bytes.length ? bytes : bytes.subarray(sent, sent + size)
      sent += size
      stream.sendWindow -= size
      this.#window -= size
      this.writer.bytes(FRAME.data, isEnd && sent === bytes.length ? FLAG.endStream : 0, stream.id, part)
    }
    if (sent < bytes.length) this.pending.add(stream)
    return sent
  }

  /** Sends queued data of the streams in turn, a frame each, while anything can be sent. */
  pump(streams: Iterable<SendingStream> = this.pending): void {
    let hasProgressed = true
    while (hasProgressed) {
      hasProgressed = false
      for (const stream of [...streams]) {
        if (this.#window === 0 || this.writer.isBlocked) return
        if (!this.pending.has(stream)) continue
        const before = stream.unsentBytes
        if (stream.pump()) this.pending.delete(stream)
        if (stream.unsentBytes !== before) hasProgressed = true
      }
    }
  }

  /** Handles a new initial window, which also changes the windows of open streams. Returns an error code. */
  setInitialWindow(bytes: number, streams: Iterable<{ readonly outgoing: SendingStream }>): number {
    const change = bytes - this.initialWindow
    this.initialWindow = bytes
    if (change === 0) return ERROR.none
    for (const { outgoing } of streams) {
      outgoing.sendWindow += change
      if (outgoing.sendWindow > MAX_WINDOW) return ERROR.flowControl
    }
    if (change > 0) this.pump()
    return ERROR.none
  }

  /** Handles WINDOW_UPDATE for the connection. Returns an error code. */
  growWindow(bytes: number): number {
    const wasEmpty = this.#window === 0
    this.#window += bytes
    if (bytes === 0) return ERROR.protocol
    if (this.#window > MAX_WINDOW) return ERROR.flowControl
    // Otherwise the streams wait for their own windows or the socket, and each frame would cost a look at all of them.
    if (wasEmpty) this.pump()
    return ERROR.none
  }

  /** Handles WINDOW_UPDATE for a stream. Returns an error code for the stream. */
  growStreamWindow(stream: SendingStream, bytes: number): number {
    stream.sendWindow += bytes
    if (bytes === 0) return ERROR.protocol
    if (stream.sendWindow > MAX_WINDOW) return ERROR.flowControl
    if (this.pending.has(stream)) this.pump([stream])
    return ERROR.none
  }

  /** Forgets a stream that has closed. */
  remove(stream: SendingStream): void {
    this.pending.delete(stream)
  }
}
