import { createServer, type Server } from 'node:net'

/**
 * First port whose name is reserved. Any process may listen from here on, so reserving names grants no extra
 * power; below, it would.
 */
const FIRST_NAMED = 1024

/**
 * Reserved names for the gateway's addresses. A free port stays free for others until a worker binds it, and
 * again while the only worker restarts. Two gateways of one user that start together would then share the
 * port, and each would get half of the connections. So the supervisor reserves each address in the kernel as
 * an abstract socket. Only one process can hold it, and it disappears with the process (Linux: unix(7);
 * elsewhere nothing is reserved).
 */
export class PortNames {
  readonly #taken = new Map<string, Server>()

  /** Reserves an address with its actual port. Resolves with false if another process holds it. */
  async take(address: string, port: number): Promise<boolean> {
    const name = nameOf(address, port)
    if (process.platform !== 'linux' || port < FIRST_NAMED || this.#taken.has(name)) return true
    const server = createServer((socket) => socket.destroy())
    const code = await new Promise<string | undefined>((resolve) => {
      server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      server.listen({ path: `\0${name}`, exclusive: true }, () => resolve(undefined))
    })
    // Other errors, such as a host name that is too long, must not stop the gateway.
    if (code !== undefined) return code !== 'EADDRINUSE'
    server.unref()
    this.#taken.set(name, server)
    return true
  }

  /** Releases the names of all other addresses. */
  keepOnly(ports: Readonly<Record<string, number>>): void {
    const kept = new Set(Object.entries(ports).map(([address, port]) => nameOf(address, port)))
    for (const [name, server] of this.#taken) {
      if (kept.has(name)) continue
      this.#taken.delete(name)
      server.close()
    }
  }
}

/** Returns the socket name. The port comes first, because names that are too long are cut at the end. */
function nameOf(address: string, port: number): string {
  return `sluice-listener-${port}-${address.slice(0, address.lastIndexOf(':'))}`
}
