import type { ControllerMessage } from '@sluice/control-client'
import type { WebSocket } from 'ws'
import type { MemberLink } from '../deploy/member-session.js'

/** Maximum size of messages that wait for a member that does not read, in bytes. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024
/** Time for the answer to a close frame, in milliseconds. */
const CLOSE_MS = 2000

/** Connection to a member over a WebSocket. */
export class WebSocketLink implements MemberLink {
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  send(message: ControllerMessage): void {
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) this.#socket.terminate()
    else this.#socket.send(JSON.stringify(message), () => {})
  }

  sendChunk(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(bytes, { binary: true }, (error) => (error ? reject(error) : resolve()))
    })
  }

  close(reason: string): void {
    this.#socket.close(1008, reason)
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref()
  }
}
