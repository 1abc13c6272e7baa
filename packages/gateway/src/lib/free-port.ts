import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Range for port 0. A port chosen by the system could be taken by an outgoing connection before a worker
 * binds it or while a worker restarts. Ports below 32,768 are not used for connections (ip_local_port_range,
 * ip(7)).
 */
const CHOSEN_PORTS = { first: 10_000, count: 10_000 }
const ATTEMPTS = 20

/** Binds an address briefly and exclusively. Resolves with its port. @throws Error of the system */
export async function probePort(host: string, port: number): Promise<number> {
  const server = createServer().listen({ host, port, exclusive: true })
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  server.close()
  await once(server, 'close')
  return bound
}

/**
 * Picks a free port from our range, or lets the system choose if none is found.
 *
 * @param accept returns false for free ports that are not to be used.
 * @throws Error of the system
 */
export async function pickFreePort(
  host: string,
  accept: (port: number) => Promise<boolean> = async () => true,
): Promise<number> {
  for (let i = 0; i < ATTEMPTS; i++) {
    const port = CHOSEN_PORTS.first + randomInt(CHOSEN_PORTS.count)
    if ((await isFree(host, port)) && (await accept(port))) return port
  }
  return probePort(host, 0)
}

async function isFree(host: string, port: number): Promise<boolean> {
  return probePort(host, port).then(
    () => true,
    () => false,
  )
}
