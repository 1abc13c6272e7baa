import type net from 'node:net'
import { writeTogether } from '../../lib/socket-output.js'
import type { FrameEnd, FrameOwner } from './frame-end.js'

/** An end on a socket that carries plain frame bytes. The reader of the socket calls `onBytes`. */
export class SocketEnd implements FrameEnd {
  owner: FrameOwner | null = null
  readonly #socket: net.Socket
  /** True once `end` was called. */
  #isEnding = false

  /** @param socket paused, and without other listeners for these events. */
  constructor(socket: net.Socket) {
    this.#socket = socket
    socket.on('drain', () => this.owner?.onRoom())
    socket.on('end', () => this.#onEnd())
    socket.on('error', () => this.#onGone())
    socket.on('close', () => this.#onGone())
  }

  onBytes(bytes: Buffer, length: number): void {
    this.owner?.onBytes(bytes, length)
  }

  write(bytes: Buffer, from: number, to: number): boolean {
    if (this.#isEnding || this.#socket.destroyed) return true
    return writeTogether(this.#socket, '', bytes.subarray(from, to), '')
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /**
   * Keeps reading: a connection with unread bytes is reset on close, which may lose the last bytes sent to the peer.
   */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#socket.resume()
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** WebSocket connections do not support half-close. */
  #onEnd(): void {
    this.#onGone()
    this.#socket.destroySoon()
  }

  #onGone(): void {
    this.owner?.onGone()
  }
}
