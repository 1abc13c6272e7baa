import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { FLAG, FRAME, HEAD_BYTES, MAX_PAYLOAD } from './frames.js'

const BUFFER_BYTES = 4 * (MAX_PAYLOAD + HEAD_BYTES)
const MAX_SPARE = 16
/** Sets the size of the dynamic table to 0 (RFC 7541 section 6.3). Needed once, because the peer may lower its limit. */
const NO_TABLE = '\x20'

/** Buffers for the next frames of any connection. */
const spare: Buffer[] = []

/** Collects the frames for a connection and writes them once per turn of the event loop. */
export class FrameWriter {
  readonly #socket: Socket
  /** True if writes complete later, so that the buffer would never be free at once. */
  readonly #copies: boolean
  #hasBlock = false
  #buffer: Buffer | null = null
  #size = 0

  constructor(socket: Socket) {
    this.#socket = socket
    this.#copies = socket instanceof TLSSocket
  }

  /** True while the socket's send buffer is full. The socket then emits 'drain'. */
  get isBlocked(): boolean {
    return this.#socket.writableNeedDrain
  }

  /** Writes a frame whose payload is four-byte numbers. */
  numbers(type: number, flags: number, stream: number, ...values: readonly number[]): void {
    const at = this.#begin(4 * values.length, type, flags, stream)
    for (let i = 0; i < values.length; i++) this.#buffer!.writeUInt32BE(values[i]! >>> 0, at + 4 * i)
  }

  /** Writes a frame of at most `MAX_PAYLOAD` bytes. */
  bytes(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const at = this.#begin(payload.length, type, flags, stream)
    this.#buffer!.set(payload, at)
  }

  /** Writes a header block, which continues in further frames if it is large. */
  block(fields: string, stream: number, isEnd: boolean): void {
    const block = this.#hasBlock ? fields : NO_TABLE + fields
    this.#hasBlock = true
    let type: number = FRAME.headers
    for (let from = 0; type === FRAME.headers || from < block.length; from += MAX_PAYLOAD) {
      const part = block.length <= MAX_PAYLOAD ? block : block.slice(from, from + MAX_PAYLOAD)
      const isLast = from + MAX_PAYLOAD >= block.length
      const flags = (isLast ? FLAG.endHeaders : 0) | (isEnd && type === FRAME.headers ? FLAG.endStream : 0)
      const at = this.#begin(part.length, type, flags, stream)
      this.#buffer!.write(part, at, 'latin1')
      type = FRAME.continuation
    }
  }

  /** Hands everything over to the socket. */
  flush(): void {
    const buffer = this.#buffer
    if (buffer === null) return
    this.#buffer = null
    const frames = buffer.subarray(0, this.#size)
    // After the end of the connection, a write would destroy the socket, with responses that still wait in it.
    const isDropped = this.#socket.writableEnded
    if (!isDropped) this.#socket.write(this.#copies ? Buffer.from(frames) : frames)
    // If bytes have to wait, the socket still needs the buffer.
    const isFree = isDropped || this.#copies || this.#socket.writableLength === 0
    if (isFree && spare.length < MAX_SPARE) spare.push(buffer)
  }

  /** Writes a frame head and returns the position of the payload. */
  #begin(length: number, type: number, flags: number, stream: number): number {
    if (this.#buffer !== null && this.#size + HEAD_BYTES + length > BUFFER_BYTES) this.flush()
    if (this.#buffer === null) {
      this.#buffer = spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
      this.#size = 0
      setImmediate(flush, this)
    }
    const buffer = this.#buffer
    const at = this.#size
    buffer[at] = length >> 16
    buffer[at + 1] = length >> 8
    buffer[at + 2] = length
    buffer[at + 3] = type
    buffer[at + 4] = flags
    buffer.writeUInt32BE(stream, at + 5)
    this.#size = at + HEAD_BYTES + length
    return at + HEAD_BYTES
  }
}

function flush(writer: FrameWriter): void {
  writer.flush()
}
