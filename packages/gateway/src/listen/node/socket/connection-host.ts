import type { ClientCertificate, RequestIds } from '@sluice/core'
import { Exchange } from '@sluice/core'
import type { CachedClock } from '../../../lib/cached-clock.js'
import type { TimerWheel } from '../../../lib/timer-wheel.js'
import type { ListenerSettings, RequestHandler } from '../../listener.js'
import type { HeadDecoder } from '../http1/head-decoder.js'
import type { ProtocolHandler } from './protocol-handler.js'

/** The remote end of a connection, or the client that a proxy names. */
export interface Peer {
  readonly address: string
  /** Port number, or 0 if unknown. */
  readonly port: number
  /** Client certificate, or null. */
  readonly certificate: ClientCertificate | null
}

/** State shared by the connections of a listener. */
export interface ConnectionHost {
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  readonly decoder: HeadDecoder
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
): Exchange {
  const x = new Exchange()
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
