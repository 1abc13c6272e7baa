import net from 'node:net'

const { connect } = net.Socket.prototype
type Connect = (this: net.Socket, ...args: unknown[]) => net.Socket

/** Refuses all connections of this process except those to ports that the trial itself has opened. */
export class NetworkGuard {
  readonly #ports = new Set<number>()
  /** Receives the address of each refused connection. */
  onRefused: (address: string) => void = () => {}

  constructor() {
    const guard = this
    const guarded: Connect = function guarded(...args) {
      const { host = 'localhost', port, path } = destinationOf(args)
      const isOpen = path === undefined && isLoopback(host) && guard.#ports.has(Number(port))
      if (isOpen) return (connect as unknown as Connect).apply(this, args)
      const address = path ?? `${host}:${port}`
      guard.onRefused(address)
      const error = new Error(`gw test does not connect to ${address}`)
      process.nextTick(() => this.destroy(Object.assign(error, { code: 'ECONNREFUSED' })))
      return this
    }
    net.Socket.prototype.connect = guarded as typeof connect
  }

  allow(port: number): void {
    this.#ports.add(port)
  }

  close(): void {
    net.Socket.prototype.connect = connect
  }
}

interface Destination {
  readonly host?: string
  readonly port?: number | string
  readonly path?: string
}

/** Returns the destination from the arguments of `connect`: options, (port, host), (path), or a list of these. */
function destinationOf(args: readonly unknown[]): Destination {
  const [first, second] = args
  if (Array.isArray(first)) return destinationOf(first)
  if (typeof first === 'object' && first !== null) return first
  if (typeof first === 'string' && Number.isNaN(Number(first))) return { path: first }
  return { port: first as number, ...(typeof second === 'string' ? { host: second } : {}) }
}

function isLoopback(host: string): boolean {
  return host === '127.0.0.1' || host === 'localhost'
}
