import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js'
import type { WebSocketData } from './websocket-end.js'

/** uWebSockets.js collects messages whole, for every connection that sends one. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** It looks after connections that say nothing, also of a client that does not close its side; the relay has its own limit. */
const PING_AFTER_S = 120

/**
 * What uWebSockets.js does with WebSockets.
 * @param onUpgrade hears of a handshake.
 * @param onClosed hears of the end of a connection, which a filter does not once it is a WebSocket.
 */
export function webSocketBehavior(
  onUpgrade: (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => void,
  onClosed: () => void,
): WebSocketBehavior<WebSocketData> {
  return {
    maxPayloadLength: MAX_MESSAGE_BYTES,
    // What would not fit is never dropped: the relay stops reading from the target before.
    maxBackpressure: 0,
    idleTimeout: PING_AFTER_S,
    sendPingsAutomatically: true,
    upgrade: onUpgrade,
    open: (ws) => ws.getUserData().clientEnd.onOpen(ws),
    message: (ws, message, isBinary) => ws.getUserData().clientEnd.onMessage(message, isBinary),
    ping: (ws, message) => ws.getUserData().clientEnd.onPing(message),
    pong: (ws, message) => ws.getUserData().clientEnd.onPong(message),
    drain: (ws) => ws.getUserData().clientEnd.onDrain(),
    close: (ws, code, message) => {
      onClosed()
      ws.getUserData().clientEnd.onClose(code, message)
    },
  }
}
