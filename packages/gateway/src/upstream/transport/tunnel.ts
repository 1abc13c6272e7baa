import http from 'node:http'
import type net from 'node:net'
import type { Opening } from './opening.js'

/** An HTTP proxy that opens tunnels. */
export interface ProxyOptions {
  readonly host: string
  readonly port: number
  /** Proxy-Authorization field, or null. */
  readonly authorization: string | null
}

/** Destination of a tunnel. */
export interface TunnelEnd {
  readonly host: string
  readonly port: number
  /** Lookup for the name of the proxy. The proxy itself resolves the target. */
  readonly lookup: net.LookupFunction
}

/** Opens a tunnel through a proxy (RFC 9110 section 9.3.6) and calls back once. */
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
    // A system error concerns the proxy, because the target has not been contacted.
    done(isOurs(error) ? error : new TunnelError(), null)
  })
  request.once('connect', ({ statusCode = 0 }, socket, early) => {
    clearTimeout(timer)
    // The target has not received anything yet, so early bytes cannot be from it.
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

/** The proxy did not open the tunnel. */
class TunnelError extends Error {
  readonly code = 'GW_NO_TUNNEL'
}

/** The connection was not established in time. */
export class ConnectTimeoutError extends Error {
  readonly code = 'GW_CONNECT_TIMEOUT'
}
