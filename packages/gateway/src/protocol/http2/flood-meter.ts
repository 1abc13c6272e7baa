import type { Socket } from 'node:net'
import { HEAD_BYTES } from './frames.js'

/** Bytes per second that are free: PING, SETTINGS, WINDOW_UPDATE, PRIORITY and padding. */
const FREE_BYTES = 64 * 1024
/** Maximum credit in bytes. */
const MAX_CREDIT = 256 * 1024
/** Maximum number of bytes that may still arrive for closed streams. */
const MAX_LATE_BYTES = 1024 * 1024
/** Bytes credited per request for frame headers and the WINDOW_UPDATE frames of its response. */
export const BYTES_A_REQUEST = 128

/** Maximum burst of streams that end before their responses, and the rate at which the allowance is restored. */
const MAX_RESETS = 500
const RESETS_A_SECOND = 30

/**
 * Limits the input on a connection that serves no request. It counts bytes that belong to no request, body or response.
 * Each frame has at least nine (RFC 9113 section 4.1).
 */
export class FloodMeter {
  readonly #socket: Socket
  #credit = MAX_CREDIT
  #writtenBytes: number
  /** Bytes that may still arrive for streams that have closed. */
  #lateBytes = 0
  #lookedMono = performance.now()
  #resets = MAX_RESETS
  #resetMono = this.#lookedMono

  constructor(socket: Socket) {
    this.#socket = socket
    this.#writtenBytes = socket.bytesWritten
  }

  /** Credits bytes of requests: fields as encoded, and bodies with their frame heads. */
  earn(bytes: number): void {
    this.#credit += bytes
  }

  /** Allows bytes of a body that the client sent before it knew that its stream had closed. */
  expectLate(bytes: number): void {
    this.#lateBytes = Math.min(this.#lateBytes + bytes, MAX_LATE_BYTES)
  }

  /** Credits a frame of such a body. */
  earnLate(size: number): void {
    const bytes = Math.min(size, this.#lateBytes)
    this.#lateBytes -= bytes
    if (bytes > 0) this.earn(bytes + HEAD_BYTES)
  }

  /** Counts received bytes. Returns true if the connection has received more than it is allowed. */
  isSpent(bytes: number): boolean {
    this.#credit = Math.min(this.#credit, MAX_CREDIT) - bytes
    if (this.#credit >= 0) return false
    const { bytesWritten } = this.#socket
    const nowMono = performance.now()
    const seconds = (nowMono - this.#lookedMono) / 1000
    this.#lookedMono = nowMono
    // An answer to a PING is as long as the PING. So only half of the written bytes count as credit for window updates.
    this.#credit += FREE_BYTES * seconds + (bytesWritten - this.#writtenBytes) / 2
    this.#writtenBytes = bytesWritten
    return this.#credit < 0
  }

  /** Counts a stream that ended before its response. Returns true if there are too many (CVE-2023-44487). */
  isResetTooMuch(nowMono: number): boolean {
    const earned = ((nowMono - this.#resetMono) / 1000) * RESETS_A_SECOND
    this.#resetMono = nowMono
    this.#resets = Math.min(MAX_RESETS, this.#resets + earned) - 1
    return this.#resets < 0
  }
}
