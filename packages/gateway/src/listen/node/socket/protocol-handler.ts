import type net from 'node:net'
import type { Peer } from './connection-host.js'

/**
 * Handler for connections of a listener that speak a protocol other than HTTP/1, as indicated by ALPN or their first
 * bytes. From then on only the handler reads, writes and closes the socket, except for `terminate` of the listener. The
 * listener counts the socket as open until it closes.
 */
export interface ProtocolHandler {
  /**
   * Takes over a connection. Must not throw.
   * @param peer the client, according to the connection or its proxy.
   * @param alreadyRead bytes received before the protocol was known; empty after ALPN.
   */
  accept(socket: net.Socket, peer: Peer, alreadyRead: Buffer): void
}
