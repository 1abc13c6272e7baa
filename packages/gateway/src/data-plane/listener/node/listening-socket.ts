import cluster from 'node:cluster'
import { once } from 'node:events'
import net from 'node:net'
import { AcceptTurns } from './accept-turns.js'
import { reusableSocket } from './reusable-socket.js'
import {
  type AcceptOptions,
  acceptFrom,
  acceptSockets,
  type ListeningHandle,
  type OnSocket,
} from './server-socket.js'

/**
 * Connections that a worker accepts in one turn of its event loop. libuv accepts one for each descriptor, so that a busy
 * worker, whose turns take long, would leave clients in the queue of the system for seconds.
 */
const ACCEPTS_PER_TURN = 16
/** The same while more than that wait. Each descriptor costs a lone connection a call of the system that finds nothing. */
const MOST_ACCEPTS_PER_TURN = 64

/** A socket that listens. */
export interface ListeningSocket {
  readonly port: number
  /** @param onFullTurn hears of each turn behind which more connections may wait; true: there was none in the turn before. */
  accept(onSocket: OnSocket, options: AcceptOptions, onFullTurn?: (isFirst: boolean) => void): void
  /** Stops listening; what was accepted stays. */
  close(): void
}

export interface ListeningOptions {
  /** An IPv6 address may stand in brackets. */
  readonly host: string
  readonly port: number
  /** Hears why the port cannot be shared as it should. */
  readonly onFault: (error: unknown) => void
  /** Other processes may listen at the port, too. Default: in a worker. */
  readonly isReusable?: boolean
}

/**
 * Opens a socket that listens. Each worker has its own with SO_REUSEPORT, and the kernel spreads connections (docs/internals/adr/0003);
 * where that cannot be had, the workers share one.
 * @throws Error when the address cannot be bound.
 */
export async function openListeningSocket(options: ListeningOptions): Promise<ListeningSocket> {
  const { port, onFault, isReusable = cluster.isWorker } = options
  const host = options.host.replace(/^\[|\]$/g, '')
  if (isReusable && !hasReusePort() && process.platform === 'linux') {
    try {
      return fromHandles(await reusableSocket(host, port, MOST_ACCEPTS_PER_TURN), port)
    } catch (error) {
      onFault(error)
    }
  }
  // Node.js before 22.12 has not the option.
  const reusePort = isReusable && hasReusePort()
  const servers: net.Server[] = []
  for (let i = 0; i < (reusePort ? ACCEPTS_PER_TURN : 1); i++) {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true })
    server.listen({ host, port: portOf(servers[0]) ?? port, reusePort })
    await once(server, 'listening')
    server.on('error', onFault)
    servers.push(server)
  }
  return {
    port: portOf(servers[0])!,
    accept(onSocket, accepting, onFullTurn = ignore) {
      const turns = new AcceptTurns(servers.length, onFullTurn)
      for (const server of servers) acceptSockets(server, turns.counted(onSocket), accepting)
    },
    close() {
      for (const server of servers) server.close()
    },
  }
}

function ignore(): void {}

function portOf(server: net.Server | undefined): number | undefined {
  return (server?.address() as net.AddressInfo | undefined)?.port
}

function fromHandles(handles: readonly ListeningHandle[], port: number): ListeningSocket {
  let isClosed = false
  return {
    port,
    accept(onSocket, accepting, onFullTurn = ignore) {
      const turns = new AcceptTurns(ACCEPTS_PER_TURN, (isFirst) => {
        for (const handle of isClosed ? [] : handles.slice(turns.capacity))
          acceptFrom(handle, counted, accepting)
        turns.capacity = handles.length
        onFullTurn(isFirst)
      })
      const counted = turns.counted(onSocket)
      for (const handle of handles.slice(0, turns.capacity)) acceptFrom(handle, counted, accepting)
    },
    close() {
      if (isClosed) return
      isClosed = true
      for (const handle of handles) handle.close()
    },
  }
}

/** Whether this Node.js can bind with SO_REUSEPORT itself. */
function hasReusePort(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 12)
}
