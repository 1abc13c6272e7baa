import cluster from 'node:cluster'
import { once } from 'node:events'
import net from 'node:net'
import { AcceptTurns } from './accept-turns.js'
import { reusableSocket } from './reusable-socket.js'
import {
  type AcceptOptions,
  acceptFrom,
  acceptorOf,
  type ListeningHandle,
  type OnSocket,
} from './server-socket.js'

/**
 * Number of connections that a worker accepts per turn of its event loop. libuv accepts one per descriptor, so a busy
 * worker with long turns would leave clients in the kernel's queue for seconds.
 */
const ACCEPTS_PER_TURN = 16
/**
 * Number of connections accepted per turn under load. Each descriptor costs a lone connection one useless system call.
 */
const MOST_ACCEPTS_PER_TURN = 64

/** A listening socket. */
export interface ListeningSocket {
  readonly port: number
  /** Starts accepting connections. If called again, the new receiver gets all later connections. */
  accept(onSocket: OnSocket, options: AcceptOptions): void
  /** Stops listening. Accepted connections stay open. */
  close(): void
}

interface ListeningOptions {
  /** Address to bind. An IPv6 address may be in brackets. */
  readonly host: string
  readonly port: number
  /** Called if the port cannot be shared as intended. */
  readonly onFault: (error: unknown) => void
  /** True if other processes may listen on the same port. Default: true in a worker. */
  readonly isReusable?: boolean
}

/**
 * Opens a listening socket. Each worker has one with SO_REUSEPORT, and the kernel distributes the connections
 * (docs/internals/adr/0003). Where that is not available, the workers share one.
 * @throws Error if the address cannot be bound.
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
  // Node.js before 22.12 does not have this option.
  const reusePort = isReusable && hasReusePort()
  const servers: net.Server[] = []
  for (let i = 0; i < (reusePort ? ACCEPTS_PER_TURN : 1); i++) {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true })
    server.listen({ host, port: portOf(servers[0]) ?? port, reusePort })
    await once(server, 'listening')
    server.on('error', onFault)
    servers.push(server)
  }
  const acceptors = servers.map(acceptorOf)
  return {
    port: portOf(servers[0])!,
    accept(onSocket, accepting) {
      for (const accept of acceptors) accept(onSocket, accepting)
    },
    close() {
      for (const server of servers) server.close()
    },
  }
}

function portOf(server: net.Server | undefined): number | undefined {
  return (server?.address() as net.AddressInfo | undefined)?.port
}

function fromHandles(handles: readonly ListeningHandle[], port: number): ListeningSocket {
  /** Counts the accepted connections of the current receiver; null once closed. */
  let current: AcceptTurns | null = new AcceptTurns(ACCEPTS_PER_TURN, () => {})
  return {
    port,
    accept(onSocket, accepting) {
      if (current === null) return
      const turns = new AcceptTurns(current.capacity, () => {
        if (turns !== current) return
        for (const handle of handles.slice(turns.capacity)) acceptFrom(handle, counted, accepting)
        turns.capacity = handles.length
      })
      current = turns
      const counted = turns.counted(onSocket)
      for (const handle of handles.slice(0, turns.capacity)) acceptFrom(handle, counted, accepting)
    },
    close() {
      if (current === null) return
      current = null
      for (const handle of handles) handle.close()
    },
  }
}

/** Returns true if this Node.js can bind with SO_REUSEPORT. */
function hasReusePort(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 12)
}
