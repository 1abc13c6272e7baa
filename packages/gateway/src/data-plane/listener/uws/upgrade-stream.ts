import type { HttpResponse, us_socket_context_t } from 'uWebSockets.js'
import type { FrameEnd } from '../../websocket/frame-end.js'
import type { UpgradeOffer } from '../listener.js'
import { UwsClientStream } from './client-stream.js'
import type { OtherCork } from './other-cork.js'
import type { StalledStreams } from './stalled-streams.js'
import { UwsWebSocketEnd, type WebSocketData } from './websocket-end.js'

/** A request to switch to the WebSocket protocol; any other answer closes the connection. */
export class UwsUpgradeStream extends UwsClientStream implements UpgradeOffer {
  readonly passesCompression = false
  /** uWebSockets.js cuts a connection that sends on before its request was answered. */
  readonly hasEarlyBytes = false
  readonly #res: HttpResponse
  readonly #context: us_socket_context_t | null
  readonly #otherCork: OtherCork

  /** @param context null: uWebSockets.js does not take the request for a handshake, and the pipeline refuses it. */
  constructor(
    res: HttpResponse,
    hasBody: boolean,
    context: us_socket_context_t | null,
    stalled: StalledStreams,
    otherCork: OtherCork,
  ) {
    super(res, hasBody, false, stalled)
    this.#res = res
    this.#context = context
    this.#otherCork = otherCork
  }

  override get upgrade(): UpgradeOffer {
    return this
  }

  accept(headers: readonly string[], key: string): FrameEnd | null {
    const context = this.#context
    if (this.isOver || context === null) return null
    const end = new UwsWebSocketEnd()
    this.#res.cork(() => this.writeSwitch(headers))
    this.#otherCork.run(this.#res, () => {
      // The sub-protocol stands among the fields already.
      this.#res.upgrade<WebSocketData>({ clientEnd: end }, key, '', '', context)
    })
    return end.isOpen ? end : null
  }
}
