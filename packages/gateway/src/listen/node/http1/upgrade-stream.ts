import type { FrameEnd } from '../../../protocol/websocket/frame-end.js'
import { acceptOf } from '../../../protocol/websocket/handshake.js'
import { dateLine } from '../../date-line.js'
import type { UpgradeOffer } from '../../listener.js'
import { FIELDS, NodeClientStream, type StreamConnection, type StreamOptions } from './client-stream.js'

const SWITCHING = 'HTTP/1.1 101 Switching Protocols'
const OWN_LINES = '\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: '

/**
 * A WebSocket upgrade request. Any other response closes the connection, so that bytes which the client has sent too
 * early are never parsed as a request.
 */
export class UpgradeStream extends NodeClientStream implements UpgradeOffer {
  readonly passesCompression = true
  readonly #connection: StreamConnection

  constructor(connection: StreamConnection, options: StreamOptions) {
    super(connection, options)
    this.#connection = connection
  }

  override get upgrade(): UpgradeOffer {
    return this
  }

  get hasEarlyBytes(): boolean {
    return this.#connection.hasHeldBytes
  }

  accept(headers: readonly string[], key: string): FrameEnd | null {
    if (this.isOver) return null
    this.isOver = true
    const lines = FIELDS.lines(headers, this.requestId) ?? ''
    const head = SWITCHING + dateLine() + lines + OWN_LINES + acceptOf(key) + '\r\n\r\n'
    this.#connection.socket.write(head, 'latin1')
    return this.#connection.switchTo()
  }
}
