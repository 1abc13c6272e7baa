import type net from 'node:net'
import { writeTogether } from '../listener/node/socket-output.js'
import type { FrameEnd, FrameOwner } from './frame-end.js'

/** A side on a socket, whose bytes are frames as they are. Whoever reads the socket calls `onBytes`. */
export class SocketEnd implements FrameEnd {
  owner: FrameOwner | null = null
  readonly #socket: net.Socket
  /** All was written. */
  #isEnding = false

  /** @param socket without listeners of others for these events, paused. */
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

  /** Goes on reading: a connection whose bytes nobody reads is reset, and the last ones to the other side may be lost. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#socket.resume()
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** A WebSocket is not half closed. */
  #onEnd(): void {
    this.#onGone()
    this.#socket.destroySoon()
  }

  #onGone(): void {
    this.owner?.onGone()
  }
}
