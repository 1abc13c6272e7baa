import { constants, createHash } from 'node:crypto'
import net from 'node:net'
import tls from 'node:tls'
import type { buildConnector } from 'undici'
import { Opening } from './opening.js'
import { ConnectTimeoutError, openTunnel, type ProxyOptions } from './tunnel.js'

/** TLS towards a target; everything read from files already. */
export interface TlsOptions {
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  readonly servername: string | null
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** `sha256/` and the base64 SHA-256 of the key that the target has to have; empty: any. */
  readonly pins: readonly string[]
  readonly isInsecure: boolean
}

export interface ConnectorOptions {
  readonly host: string
  readonly port: number
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null
  readonly lookup: net.LookupFunction
  /** Opens a tunnel to the target; absent or null: there is no proxy. */
  readonly proxy?: ProxyOptions | null
  /** Protocols for the TLS handshake (ALPN); default: HTTP/1.1. */
  readonly protocols?: readonly string[]
}

/**
 * Opens a connection and calls back once it is usable, or why it is not.
 * @param timeoutMs for the name, the TCP and the TLS handshake together.
 */
export type Connector = (timeoutMs: number, done: buildConnector.Callback) => Opening

/**
 * Opens connections to one target. undici's own connector would do, but its time-outs below two seconds are up to a
 * second late (docs/reference/limits.md), and a connect time-out is what decides how fast a request moves to the next target.
 */
export function createConnector(options: ConnectorOptions): Connector {
  return (timeoutMs, done) => {
    const opening = new Opening()
    if (options.proxy) connectThrough(options, options.proxy, { opening, timeoutMs, done })
    else connectDirectly(options, { opening, timeoutMs, done })
    return opening
  }
}

/** One call of a connector. */
interface Connecting {
  readonly opening: Opening
  readonly timeoutMs: number
  readonly done: buildConnector.Callback
}

function connectDirectly(options: ConnectorOptions, { opening, timeoutMs, done }: Connecting): void {
  const { host, port, lookup } = options
  const isTls = options.tls !== null
  const socket = isTls
    ? connectTls(options, options.tls, { host, port, lookup })
    : net.connect({ host, port, lookup })
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 60_000)
  opening.watch(socket)
  if (isTls) socket.once('secureConnect', () => opening.noteSecured())
  settle(socket, { event: isTls ? 'secureConnect' : 'connect', timeoutMs, tls: options.tls }, done)
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

/** @param way where the connection goes, or what it goes over. */
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
    // A target could ask for one handshake after the other, and show another certificate than the one that was checked.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    rejectUnauthorized: !secure.isInsecure,
    ...(secure.ca === null ? {} : { ca: secure.ca }),
    ...(secure.cert === null ? {} : { cert: secure.cert }),
    ...(secure.key === null ? {} : { key: secure.key }),
  })
}

/** Calls back once: with the socket when it is usable, else with the error. */
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

/** The target has another key than those that are pinned. */
class PinError extends Error {
  readonly code = 'ERR_TLS_PIN'
}
