import cluster from 'node:cluster'
import { once } from 'node:events'
import net from 'node:net'
import { reusableSocket } from './reusable-socket.js'
import { type AcceptOptions, acceptFrom, acceptSockets, type OnSocket } from './server-socket.js'

/** A socket that listens. */
export interface ListeningSocket {
  readonly port: number
  accept(onSocket: OnSocket, options: AcceptOptions): void
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
 * Opens a socket that listens. Each worker has its own with SO_REUSEPORT, and the kernel spreads connections (docs/adr/0003);
 * where that cannot be had, the workers share one.
 * @throws Error when the address cannot be bound.
 */
export async function openListeningSocket(options: ListeningOptions): Promise<ListeningSocket> {
  const { port, onFault, isReusable = cluster.isWorker } = options
  const host = options.host.replace(/^\[|\]$/g, '')
  if (isReusable && !hasReusePort() && process.platform === 'linux') {
    try {
      return fromHandle(await reusableSocket(host, port), port)
    } catch (error) {
      onFault(error)
    }
  }
  // Node.js before 22.12 has not the option.
  const listening = { host, port, reusePort: isReusable && hasReusePort() }
  const server = net.createServer({ allowHalfOpen: true, noDelay: true })
  server.listen(listening)
  await once(server, 'listening')
  server.on('error', onFault)
  return {
    port: (server.address() as net.AddressInfo).port,
    accept: (onSocket, accepting) => acceptSockets(server, onSocket, accepting),
    close: () => void server.close(),
  }
}

type Handle = Awaited<ReturnType<typeof reusableSocket>>

function fromHandle(handle: Handle, port: number): ListeningSocket {
  let isClosed = false
  return {
    port,
    accept: (onSocket, accepting) => acceptFrom(handle, onSocket, accepting),
    close() {
      if (!isClosed) handle.close()
      isClosed = true
    },
  }
}

/** Whether this Node.js can bind with SO_REUSEPORT itself. */
function hasReusePort(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 12)
}
