import type { Socket } from 'node:net'

/** What a connection may read a second beyond requests and their bodies: PING, SETTINGS, WINDOW_UPDATE, PRIORITY, padding. */
const FREE_BYTES = 64 * 1024
/** The most that it can save up. */
const MAX_CREDIT = 256 * 1024
/** Of frames beside the fields of a request: its own, and the window that its response takes. */
const BYTES_A_REQUEST = 128

/** Streams that end before their responses: so many at once, and so many a second after that. */
const MAX_RESETS = 500
const RESETS_A_SECOND = 30

/**
 * What a client makes a connection do without a request that is served. nghttp2 answers PING and SETTINGS by itself and
 * reports nothing of other frames, so what they are is not counted, but the bytes that brought neither a request nor a
 * body nor took a response: each frame has nine at least (RFC 9113 section 4.1).
 */
export class FloodMeter {
  readonly #socket: Socket
  #credit = MAX_CREDIT
  #readBytes: number
  #writtenBytes: number
  #lookedMono = performance.now()
  #resets = MAX_RESETS
  #resetMono = this.#lookedMono

  constructor(socket: Socket) {
    this.#socket = socket
    this.#readBytes = socket.bytesRead
    this.#writtenBytes = socket.bytesWritten
  }

  /** So many bytes of bodies came. */
  earn(bytes: number): void {
    this.#credit += bytes
  }

  /** A request came. @param bytes of its fields; on the wire they are mostly fewer. */
  earnRequest(bytes: number): void {
    this.#credit += bytes + BYTES_A_REQUEST
  }

  /** Whether the connection has read more than it should have. */
  isOverdrawn(nowMono: number): boolean {
    const { bytesRead, bytesWritten } = this.#socket
    const seconds = (nowMono - this.#lookedMono) / 1000
    this.#lookedMono = nowMono
    // An answer to a PING is as long as the PING: half of what was written pays for the windows of responses only.
    this.#credit += FREE_BYTES * seconds + (bytesWritten - this.#writtenBytes) / 2
    this.#credit -= bytesRead - this.#readBytes
    this.#readBytes = bytesRead
    this.#writtenBytes = bytesWritten
    if (this.#credit > MAX_CREDIT) this.#credit = MAX_CREDIT
    return this.#credit < 0
  }

  /** A stream ended before its response did. Whether these are too many (CVE-2023-44487). */
  isResetTooMuch(nowMono: number): boolean {
    const earned = ((nowMono - this.#resetMono) / 1000) * RESETS_A_SECOND
    this.#resetMono = nowMono
    this.#resets = Math.min(MAX_RESETS, this.#resets + earned) - 1
    return this.#resets < 0
  }
}
