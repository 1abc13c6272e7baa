import type net from 'node:net'
import type { buildConnector, Client } from 'undici'
import type { Connector } from '../transport/connector.js'
import type { Opening } from '../transport/opening.js'
import { loadUndici } from './lazy-undici.js'

/** Connector and maximum age for the connections of a client. */
export interface ConnectionAge {
  readonly connector: Connector
  readonly maxMs: number
}

/** Use of one connection so far. */
export interface ConnectionUse {
  requests: number
  opening: Opening | null
  /** Connect timeout for the next connection to be opened, in milliseconds. */
  connectMs: number
}

/** A request handler that is told which connection it gets. */
export interface ConnectionUser {
  connection: ConnectionUse | null
  /** Connect timeout in milliseconds for a connection opened for this request. */
  readonly connectMs: number
}

/**
 * Final fraction of the maximum age over which connections opened together are renewed, to avoid renewing all at once.
 */
const SPREAD = 0.1

/**
 * Creates an undici client (one connection) that reconnects when the connection has reached its maximum age: at once if
 * it is idle, otherwise after the current response. No request is lost.
 *
 * undici's `clientTtl` is not used. When all connections of a pool are old, it closes them as a request arrives, opens
 * no new one, and leaves the request waiting until another one arrives.
 */
export function createAgingClient(origin: URL, options: Client.Options, age: ConnectionAge): Client {
  let old: net.Socket | null = null
  const use: ConnectionUse = { requests: 0, opening: null, connectMs: 0 }
  const connect: buildConnector.connector = (_, done) => {
    use.opening = age.connector(use.connectMs, (...result) => {
      use.requests = 0
      if (result[1] !== null) watch(result[1])
      done(...result)
    })
  }
  const client = new (loadUndici().Client)(origin, { ...options, connect })
  const dispatch = client.dispatch.bind(client)
  client.dispatch = (request, handler) => {
    // Pass the state of the connection, because it is known only at the start of the request if the connection is new.
    const user = handler as unknown as ConnectionUser
    user.connection = use
    use.connectMs = user.connectMs
    return dispatch(request, handler)
  }
  const renew = (socket: net.Socket): void => {
    if (client.stats.size === 0) socket.destroy()
    else old = socket
  }
  const watch = (socket: net.Socket): void => {
    const timer = setTimeout(renew, age.maxMs * (1 - SPREAD * Math.random()), socket)
    timer.unref()
    socket.once('close', () => {
      clearTimeout(timer)
      if (old === socket) old = null
    })
  }
  // The client has become idle. The pool is told after this listener, so it cannot have reused the connection yet.
  client.on('drain', () => {
    if (old !== null) renew(old)
  })
  return client
}
