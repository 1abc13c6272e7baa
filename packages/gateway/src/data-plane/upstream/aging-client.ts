import type net from 'node:net'
import type { buildConnector, Client } from 'undici'
import type { Connector } from './connector.js'
import { loadUndici } from './lazy-undici.js'
import type { Opening } from './opening.js'

export interface ConnectionAge {
  readonly connector: Connector
  readonly maxMs: number
}

/** What became of one connection so far. */
export interface ConnectionUse {
  /** Begun on it. */
  requests: number
  opening: Opening | null
  /** For the next one to be opened. */
  connectMs: number
}

/** A handler that wants to know the connection it gets. */
export interface ConnectionUser {
  connection: ConnectionUse | null
  /** How long a connection that is opened for it may take. */
  readonly connectMs: number
}

/** Connections that were opened together are renewed over this last part of their time, not in one moment. */
const SPREAD = 0.1

/**
 * An undici client, which is one connection, that opens a new one when the old one has reached its age: at once when it
 * is idle, else behind the response that is on its way. No request is lost by it.
 *
 * undici's own `clientTtl` is not used: a pool that has all its connections and finds them old closes them on the arrival
 * of a request, opens none in their place, and leaves that request lying until another one comes.
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
    // Whether the connection is new is known when it is given to the request, not yet when the request comes.
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
  // The client has become free. The pool hears of it after this listener, so that it cannot have given out the connection.
  client.on('drain', () => {
    if (old !== null) renew(old)
  })
  return client
}
