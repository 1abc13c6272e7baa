import type net from 'node:net'
import type { ClientCertificate, ReceivedExchange, RequestIds } from '@sluice/core'
import { Exchange } from '@sluice/core'
import type { CachedClock } from '../../../lib/cached-clock.js'
import type { TimerWheel } from '../../../lib/timer-wheel.js'
import type { ListenerSettings, RequestHandler } from '../../listener.js'
import type { SocketReader } from './server-socket.js'

/** The remote end of a connection, or the client that a proxy names. */
export interface Peer {
  readonly address: string
  /** Port number, or 0 if unknown. */
  readonly port: number
  /** Client certificate, or null. */
  readonly certificate: ClientCertificate | null
}

/**
 * Handler for connections of a listener that speak a protocol other than HTTP/1, as indicated by ALPN or their first
 * bytes. From then on only the handler reads, writes and closes the socket, except for `terminate` of the listener. The
 * listener counts the socket as open until it closes.
 */
export interface ProtocolHandler {
  /**
   * Takes over a connection and returns the reader of its further bytes. Must not throw.
   * @param peer the client, according to the connection or its proxy.
   * @param alreadyRead bytes received before the protocol was known; empty after ALPN.
   */
  accept(socket: net.Socket, peer: Peer, alreadyRead: Buffer): SocketReader
}

/** State shared by the connections of a listener. */
export interface ConnectionHost {
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  readonly scheme: 'http' | 'https'
  readonly settings: ListenerSettings
  /** Handler for HTTP/2 connections, or null if HTTP/2 is off. */
  readonly http2: ProtocolHandler | null
  /** True if connections close after their next response. */
  readonly isClosing: boolean
  readonly onFault: (error: unknown) => void
}

/** Creates the exchange for a new request on a connection. */
export function beginExchange(
  { clock, scheme, settings }: Pick<ConnectionHost, 'clock' | 'scheme' | 'settings'>,
  peer: Peer,
): ReceivedExchange {
  const x: ReceivedExchange = new Exchange()
  x.startedAt = Date.now()
  x.startedMono = clock.read()
  x.scheme = scheme
  x.peer = peer.address
  x.clientPort = peer.port
  x.clientCertificate = peer.certificate
  x.bodyLimit = settings.bodyBytes
  x.pace = settings
  return x
}
