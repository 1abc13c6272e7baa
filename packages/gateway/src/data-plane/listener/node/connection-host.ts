import type { ClientCertificate, RequestIds } from '@sluice/core'
import { Exchange } from '@sluice/core'
import type { CachedClock } from '../../lib/cached-clock.js'
import type { TimerWheel } from '../../lib/timer-wheel.js'
import type { Gate, ListenerSettings } from '../listener.js'
import type { HeadIntake } from './head-intake.js'
import type { ProtocolHandler } from './protocol-handler.js'

/** The other end of a connection, or the client that a proxy names. */
export interface Peer {
  readonly address: string
  /** 0 where nobody has named it. */
  readonly port: number
  /** Null: the listener asks for none. */
  readonly certificate: ClientCertificate | null
}

/** What the connections of a listener share. */
export interface ConnectionHost {
  readonly gate: Gate
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  readonly intake: HeadIntake
  readonly scheme: 'http' | 'https'
  readonly settings: ListenerSettings
  /** Null: nobody serves it. */
  readonly http2: ProtocolHandler | null
  /** Connections end with their next answer. */
  readonly isClosing: boolean
  readonly onFault: (error: unknown) => void
}

/** An exchange that begins now on a connection. */
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
