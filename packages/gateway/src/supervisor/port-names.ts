import { createServer, type Server } from 'node:net'

/** Whoever may listen on ports from here on may take their names too; below, names would give them a power they lack. */
const FIRST_NAMED = 1024

/**
 * Names for the addresses of a gateway. A port that was found to be free is free for others until a worker binds it, and
 * again while the only worker is started anew: two gateways of one user that start together would share the port, and each
 * would get half of the connections. So the supervisor takes a name for the address from the kernel, an abstract socket,
 * which one process can have at a time and which goes with it (Linux: unix(7); elsewhere nothing is taken).
 */
export class PortNames {
  readonly #taken = new Map<string, Server>()

  /** Takes the name of an address with its real port. False: another process has it. */
  async take(address: string, port: number): Promise<boolean> {
    const name = nameOf(address, port)
    if (process.platform !== 'linux' || port < FIRST_NAMED || this.#taken.has(name)) return true
    const server = createServer((socket) => socket.destroy())
    const code = await new Promise<string | undefined>((resolve) => {
      server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      server.listen({ path: `\0${name}`, exclusive: true }, () => resolve(undefined))
    })
    // What else may go wrong, such as a host with too long a name, is no reason to serve nothing.
    if (code !== undefined) return code !== 'EADDRINUSE'
    server.unref()
    this.#taken.set(name, server)
    return true
  }

  /** Gives up the names of all other addresses. */
  keepOnly(ports: Readonly<Record<string, number>>): void {
    const kept = new Set(Object.entries(ports).map(([address, port]) => nameOf(address, port)))
    for (const [name, server] of this.#taken) {
      if (kept.has(name)) continue
      this.#taken.delete(name)
      server.close()
    }
  }
}

/** The port comes first: what is too long is cut off at its end. */
function nameOf(address: string, port: number): string {
  return `sluice-listener-${port}-${address.slice(0, address.lastIndexOf(':'))}`
}
