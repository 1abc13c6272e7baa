import { constants, createHash } from 'node:crypto'
import net from 'node:net'
import tls from 'node:tls'
import type { buildConnector } from 'undici'
import { Opening } from './opening.js'
import { ConnectTimeoutError, openTunnel, type ProxyOptions } from './tunnel.js'

/** TLS options for connections to a target. Files have already been read. */
export interface TlsOptions {
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  readonly servername: string | null
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** Accepted public keys as `sha256/` and the Base64 SHA-256 of the key; empty for any key. */
  readonly pins: readonly string[]
  readonly isInsecure: boolean
}

/** Options for `createConnector`. */
export interface ConnectorOptions {
  readonly host: string
  readonly port: number
  /** TLS options, or null for plain HTTP. */
  readonly tls: TlsOptions | null
  readonly lookup: net.LookupFunction
  /** Proxy to tunnel through; absent or null for a direct connection. */
  readonly proxy?: ProxyOptions | null
  /** ALPN protocols for the TLS handshake. Default: HTTP/1.1. */
  readonly protocols?: readonly string[]
  /** Name of the upstream; absent for calls of policies. */
  readonly owner?: string
  /** Opens connections without TLS in place of the network. Absent: the network is used. */
  readonly openSocket?: OpenSocket
}

/** Opens a connection to a fake server. `settings` are further options of `net.connect`. */
export type OpenSocket = (
  server: Pick<ConnectorOptions, 'host' | 'port' | 'tls' | 'owner'>,
  settings?: object,
) => net.Socket

/** Options for transports that open their connections with `createConnector`. */
export interface TransportOptions extends ConnectorOptions {
  /** Origin as `http://host:port` or `https://host:port`. */
  readonly origin: string
  /** Maximum number of connections. */
  readonly connections: number
  readonly keepAliveMs: number
  /** Maximum wait for a connection in milliseconds. */
  readonly pendingTimeoutMs: number
  readonly maxHeaderBytes: number
  /** Maximum age of a connection in milliseconds. Renewal makes it follow a changed address. */
  readonly maxConnectionAgeMs: number
}

/**
 * Opens a connection and calls back once it is usable, or with the error.
 * @param timeoutMs limit for DNS, TCP and TLS together.
 */
export type Connector = (timeoutMs: number, done: buildConnector.Callback) => Opening

/**
 * Creates a connector for one target. undici's own connector is not used: its timeouts below two seconds are up to a
 * second late, and the connect timeout determines how fast a request fails over.
 */
export function createConnector(options: ConnectorOptions): Connector {
  return (timeoutMs, done) => {
    const opening = new Opening()
    if (options.proxy) connectThrough(options, options.proxy, { opening, timeoutMs, done })
    else connectDirectly(options, { opening, timeoutMs, done })
    return opening
  }
}

interface Connecting {
  readonly opening: Opening
  readonly timeoutMs: number
  readonly done: buildConnector.Callback
}

function connectDirectly(options: ConnectorOptions, { opening, timeoutMs, done }: Connecting): void {
  const { host, port, lookup, openSocket } = options
  const isTls = options.tls !== null && openSocket === undefined
  const socket =
    openSocket?.(options) ??
    (options.tls === null
      ? net.connect({ host, port, lookup })
      : connectTls(options, options.tls, { host, port, lookup }))
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 60_000)
  opening.watch(socket)
  if (isTls) socket.once('secureConnect', () => opening.noteSecured())
  const tls = isTls ? options.tls : null
  settle(socket, { event: isTls ? 'secureConnect' : 'connect', timeoutMs, tls }, done)
}

function connectThrough(
  options: ConnectorOptions,
  proxy: ProxyOptions,
  { opening, timeoutMs, done }: Connecting,
): void {
  const sinceMono = performance.now()
  openTunnel(options, { proxy, opening, timeoutMs }, (error, tunnel) => {
    if (error !== null) done(error, null)
    else if (options.tls === null) done(null, tunnel)
    else {
      const socket = connectTls(options, options.tls, { socket: tunnel })
      socket.once('secureConnect', () => opening.noteSecured())
      const leftMs = Math.max(1, timeoutMs - (performance.now() - sinceMono))
      settle(socket, { event: 'secureConnect', timeoutMs: leftMs, tls: options.tls }, done)
    }
  })
}

/** Starts a TLS connection. @param way address to connect to, or socket to use. */
function connectTls(
  options: ConnectorOptions,
  secure: TlsOptions,
  way: tls.ConnectionOptions,
): tls.TLSSocket {
  const servername = secure.servername ?? (net.isIP(options.host) === 0 ? options.host : '')
  return tls.connect({
    ...way,
    host: options.host,
    servername,
    ALPNProtocols: [...(options.protocols ?? ['http/1.1'])],
    minVersion: secure.minVersion,
    // Renegotiation would let a target request endless handshakes, and present a different certificate than the
    // verified one.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    rejectUnauthorized: !secure.isInsecure,
    ...(secure.ca === null ? {} : { ca: secure.ca }),
    ...(secure.cert === null ? {} : { cert: secure.cert }),
    ...(secure.key === null ? {} : { key: secure.key }),
  })
}

/** Calls back once: with the socket when it is usable, or with the error. */
function settle(
  socket: net.Socket,
  {
    event,
    timeoutMs,
    tls,
  }: { readonly event: string; readonly timeoutMs: number; readonly tls: TlsOptions | null },
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
    if (tls !== null && !hasPinnedKey(socket as tls.TLSSocket, tls.pins)) {
      socket.destroy(new PinError())
      return
    }
    socket.off('error', onError)
    done(null, socket)
  })
}

function hasPinnedKey(socket: tls.TLSSocket, pins: readonly string[]): boolean {
  if (pins.length === 0) return true
  const key = socket.getPeerX509Certificate()?.publicKey.export({ type: 'spki', format: 'der' })
  return key !== undefined && pins.includes(`sha256/${createHash('sha256').update(key).digest('base64')}`)
}

/** The target's key is not one of the pinned keys. */
class PinError extends Error {
  readonly code = 'ERR_TLS_PIN'
}
