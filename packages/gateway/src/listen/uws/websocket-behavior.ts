import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js'
import type { WebSocketData } from './websocket-end.js'

/** Maximum message size. uWebSockets.js buffers whole messages for every connection. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/**
 * Idle time before a ping in seconds. It detects dead connections, also while closing; the relay has its own idle
 * timeout.
 */
const PING_AFTER_S = 120

/**
 * Returns the WebSocket handlers for uWebSockets.js.
 * @param onUpgrade called with each handshake.
 * @param onClosed called when a connection has closed. The connection filter does not report that for WebSockets.
 */
export function webSocketBehavior(
  onUpgrade: (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => void,
  onClosed: () => void,
): WebSocketBehavior<WebSocketData> {
  return {
    maxPayloadLength: MAX_MESSAGE_BYTES,
    // No limit: the relay stops reading from the target first, so no message is dropped.
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
