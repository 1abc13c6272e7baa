import type net from 'node:net'
import type { Peer } from './connection-host.js'

/**
 * Serves the connections of a listener that speak another protocol than HTTP/1, as their ALPN or their first bytes say. The
 * socket is the handler's from then on: nobody else reads from it, writes to it or closes it, but for `terminate` of the
 * listener. The listener counts it as open until it closes.
 */
export interface ProtocolHandler {
  /**
   * @param peer the client, as the connection or its proxy says.
   * @param alreadyRead what came before the protocol was known; empty where ALPN has said so. Must not throw.
   */
  accept(socket: net.Socket, peer: Peer, alreadyRead: Buffer): void
}
