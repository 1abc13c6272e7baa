import type { WebSocket } from 'uWebSockets.js'
import type { FrameEnd, FrameOwner } from '../../protocol/websocket/frame-end.js'
import { formClose, formFrame, OPCODE } from '../../protocol/websocket/frames.js'
import { ServerFrames } from './server-frames.js'

/** User data of a uWebSockets.js WebSocket. It becomes fields of that object, so it must not shadow its methods. */
export interface WebSocketData {
  readonly clientEnd: UwsWebSocketEnd
}

/** Pending bytes from which a client counts as slow. */
const HIGH_WATER_BYTES = 64 * 1024
/** Bytes accepted from a client while its target does not read. uWebSockets.js cannot pause a WebSocket. */
const MAX_AHEAD_BYTES = 1024 * 1024
const TRY_AGAIN_LATER = 1013
const NO_CODE = 1005
const ABNORMAL = 1006

/**
 * An end that uWebSockets.js reads and writes by messages. It converts the client's messages into frames, and the
 * target's frames into messages or fragments. uWebSockets.js answers the client's pings itself. They are still
 * forwarded, and the target's pongs to them are dropped here.
 */
export class UwsWebSocketEnd implements FrameEnd {
  owner: FrameOwner | null = null
  readonly #frames = new ServerFrames()
  /** WebSocket, or null before it is open and after it has closed. */
  #ws: WebSocket<WebSocketData> | null = null
  #isWaiting = false
  #isPaused = false
  /** Bytes accepted while paused. */
  #ahead = 0
  /** Unanswered pings from the target. Other pongs answer the pings of uWebSockets.js itself. */
  #pings = 0
  #isEnding = false
  /** Payload of the close frame to send last, or null. */
  #closing: Buffer | null = null

  get isOpen(): boolean {
    return this.#ws !== null
  }

  // Events of uWebSockets.js.

  onOpen(ws: WebSocket<WebSocketData>): void {
    this.#ws = ws
  }

  onMessage(message: ArrayBuffer, isBinary: boolean): void {
    if (this.#isPaused) {
      this.#ahead += message.byteLength
      if (this.#ahead > MAX_AHEAD_BYTES) {
        this.#ws?.end(TRY_AGAIN_LATER)
        return
      }
    }
    this.#give(isBinary ? OPCODE.binary : OPCODE.text, message)
  }

  onPing(message: ArrayBuffer): void {
    this.#give(OPCODE.ping, message)
  }

  onPong(message: ArrayBuffer): void {
    if (this.#pings === 0) return
    this.#pings--
    this.#give(OPCODE.pong, message)
  }

  onDrain(): void {
    if (this.#ws === null || this.#ws.getBufferedAmount() > 0) return
    if (this.#isEnding) this.#finish()
    else if (this.#isWaiting) {
      this.#isWaiting = false
      this.owner?.onRoom()
    }
  }

  /** Called when the connection has closed, also after our own `end` or `close`. */
  onClose(code: number, reason: ArrayBuffer): void {
    this.#ws = null
    const { owner } = this
    if (code !== ABNORMAL && owner !== null) {
      const frame = formClose(code === 0 ? NO_CODE : code, new Uint8Array(reason), true)
      owner.onBytes(frame, frame.length)
    }
    owner?.onGone()
  }

  #give(opcode: number, message: ArrayBuffer): void {
    const frame = formFrame({ opcode, isFinal: true, payload: new Uint8Array(message), isMasked: true })
    this.owner?.onBytes(frame, frame.length)
  }

  // Methods for the relay.

  write(bytes: Buffer, from: number, to: number): boolean {
    const ws = this.#ws
    if (ws === null || this.#isEnding) return true
    ws.cork(() => this.#frames.read(bytes, from, to, this))
    if (this.#ws === null) return true
    const unsentBytes = ws.getBufferedAmount()
    if (this.#isEnding && unsentBytes === 0) this.#finish()
    this.#isWaiting = unsentBytes > HIGH_WATER_BYTES
    return !this.#isWaiting
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#ahead = 0
  }

  end(): void {
    if (this.#ws === null || this.#isEnding) return
    this.#isEnding = true
    if (this.#ws.getBufferedAmount() === 0) this.#finish()
  }

  destroy(): void {
    this.#ws?.close()
  }

  // Frames of the target.

  /** @param isFirst true for the first fragment of the message. @param isLast true for the last one. */
  onData(payload: Uint8Array, isBinary: boolean, isFirst: boolean, isLast: boolean): void {
    const ws = this.#ws
    if (ws === null) return
    if (isFirst && isLast) ws.send(payload, isBinary)
    else if (isFirst) ws.sendFirstFragment(payload, isBinary)
    else if (isLast) ws.sendLastFragment(payload)
    else ws.sendFragment(payload)
  }

  onControl(opcode: number, payload: Uint8Array): void {
    const ws = this.#ws
    if (ws === null) return
    if (opcode === OPCODE.ping) {
      this.#pings++
      ws.ping(payload)
    } else if (opcode === OPCODE.close) {
      this.#closing = Buffer.from(payload)
      this.#isEnding = true
    }
  }

  /** Closes the connection once all bytes were sent. After the close frame, uWebSockets.js could no longer cut it. */
  #finish(): void {
    const ws = this.#ws
    if (ws === null) return
    const payload = this.#closing
    if (payload === null) ws.close()
    else if (payload.length === 0) ws.end()
    else ws.end(payload.readUInt16BE(), payload.subarray(2))
  }
}
