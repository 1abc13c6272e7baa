import http from 'node:http'
import type net from 'node:net'
import type { Opening } from './opening.js'

/** An HTTP proxy that opens tunnels. */
export interface ProxyOptions {
  readonly host: string
  readonly port: number
  /** The Proxy-Authorization field; null: none. */
  readonly authorization: string | null
}

/** Where a tunnel leads to. */
export interface TunnelEnd {
  readonly host: string
  readonly port: number
  /** For the name of the proxy; the proxy looks for the target itself. */
  readonly lookup: net.LookupFunction
}

/** Opens a tunnel through a proxy (RFC 9110 section 9.3.6), and calls back once. */
export function openTunnel(
  { host, port, lookup }: TunnelEnd,
  { proxy, opening, timeoutMs }: { proxy: ProxyOptions; opening: Opening; timeoutMs: number },
  done: (...result: [null, net.Socket] | [Error, null]) => void,
): void {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const { authorization } = proxy
  const headers = {
    host: authority,
    ...(authorization === null ? {} : { 'proxy-authorization': authorization }),
  }
  const way = { host: proxy.host, port: proxy.port, lookup, agent: false }
  const request = http.request({ ...way, method: 'CONNECT', path: authority, headers })
  const timer = setTimeout(() => request.destroy(new ConnectTimeoutError()), timeoutMs)
  request.once('socket', (socket) => opening.watch(socket))
  request.once('error', (error) => {
    clearTimeout(timer)
    // What the system says is about the proxy: the target was not asked for anything.
    done(isOurs(error) ? error : new TunnelError(), null)
  })
  request.once('connect', ({ statusCode = 0 }, socket, early) => {
    clearTimeout(timer)
    // Nobody has said anything to the target yet, so what comes already is not from it.
    if (statusCode >= 200 && statusCode < 300 && early.length === 0) {
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 60_000)
      done(null, socket)
    } else {
      socket.destroy()
      done(new TunnelError(), null)
    }
  })
  request.end()
}

function isOurs(error: NodeJS.ErrnoException): boolean {
  return error.code?.startsWith('GW_') === true
}

/** The proxy opens no tunnel. */
class TunnelError extends Error {
  readonly code = 'GW_NO_TUNNEL'
}

/** No connection came about in time. */
export class ConnectTimeoutError extends Error {
  readonly code = 'GW_CONNECT_TIMEOUT'
}
