import net from 'node:net'
import tls from 'node:tls'
import type { buildConnector } from 'undici'
import { Opening } from './opening.js'

/** TLS towards a target; everything read from files already. */
export interface TlsOptions {
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  readonly servername: string | null
  readonly isInsecure: boolean
}

export interface ConnectorOptions {
  readonly host: string
  readonly port: number
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null
  readonly lookup: net.LookupFunction
}

/**
 * Opens a connection and calls back once it is usable, or why it is not.
 * @param timeoutMs for the name, the TCP and the TLS handshake together.
 */
export type Connector = (timeoutMs: number, done: buildConnector.Callback) => Opening

/**
 * Opens connections to one target. undici's own connector would do, but its time-outs below two seconds are up to a
 * second late (docs/limits.md), and a connect time-out is what decides how fast a request moves to the next target.
 */
export function createConnector(options: ConnectorOptions): Connector {
  return (timeoutMs, done) => {
    const opening = new Opening()
    const socket = options.tls === null ? connectPlain(options) : connectTls(options, options.tls)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    opening.watch(socket)
    if (options.tls !== null) socket.once('secureConnect', () => opening.noteSecured())
    const isTls = options.tls !== null
    settle(socket, { event: isTls ? 'secureConnect' : 'connect', timeoutMs }, done)
    return opening
  }
}

function connectPlain({ host, port, lookup }: ConnectorOptions): net.Socket {
  return net.connect({ host, port, lookup })
}

function connectTls(options: ConnectorOptions, secure: TlsOptions): tls.TLSSocket {
  const servername = secure.servername ?? (net.isIP(options.host) === 0 ? options.host : '')
  return tls.connect({
    host: options.host,
    port: options.port,
    lookup: options.lookup,
    servername,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !secure.isInsecure,
    ...(secure.ca === null ? {} : { ca: secure.ca }),
    ...(secure.cert === null ? {} : { cert: secure.cert }),
    ...(secure.key === null ? {} : { key: secure.key }),
  })
}

/** Calls back once: with the socket when it is usable, else with the error. */
function settle(
  socket: net.Socket,
  { event, timeoutMs }: { readonly event: string; readonly timeoutMs: number },
  done: buildConnector.Callback,
): void {
  const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), timeoutMs)
  const onError = (error: Error): void => {
    clearTimeout(timer)
    done(error, null)
  }
  socket.once('error', onError)
  socket.once(event, () => {
    clearTimeout(timer)
    socket.off('error', onError)
    done(null, socket)
  })
}

/** No connection came about in time. */
export class ConnectTimeoutError extends Error {
  readonly code = 'GW_CONNECT_TIMEOUT'
}
