import type { HttpResponse, us_socket_context_t } from 'uWebSockets.js'
import type { FrameEnd } from '../../protocol/websocket/frame-end.js'
import type { UpgradeOffer } from '../listener.js'
import { UwsClientStream } from './client-stream.js'
import type { CorkWorkaround } from './cork-workaround.js'
import type { StalledStreams } from './stalled-streams.js'
import { UwsWebSocketEnd, type WebSocketData } from './websocket-end.js'

interface UpgradeParts {
  /**
   * Socket context, or null if uWebSockets.js does not recognize the request as a handshake; the pipeline then refuses
   * it.
   */
  readonly context: us_socket_context_t | null
  readonly corkWorkaround: CorkWorkaround
}

/** A WebSocket upgrade request. Any other response closes the connection. */
export class UwsUpgradeStream extends UwsClientStream implements UpgradeOffer {
  readonly passesCompression = false
  /** Always false: uWebSockets.js cuts a connection that sends more before the response. */
  readonly hasEarlyBytes = false
  readonly #res: HttpResponse
  readonly #parts: UpgradeParts

  constructor(res: HttpResponse, hasBody: boolean, stalled: StalledStreams, parts: UpgradeParts) {
    super(res, hasBody, false, stalled)
    this.#res = res
    this.#parts = parts
  }

  override get upgrade(): UpgradeOffer {
    return this
  }

  accept(headers: readonly string[], key: string): FrameEnd | null {
    const { context, corkWorkaround } = this.#parts
    if (this.isOver || context === null) return null
    const end = new UwsWebSocketEnd()
    this.#res.cork(() => this.writeSwitch(headers))
    corkWorkaround.run(this.#res, () => {
      // The subprotocol is already among the fields.
      this.#res.upgrade<WebSocketData>({ clientEnd: end }, key, '', '', context)
    })
    return end.isOpen ? end : null
  }
}
