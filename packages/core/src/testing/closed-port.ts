import { createServer } from 'node:net'

/**
 * Below the ephemeral port range, so that the system does not assign the port to others. Above the range from
 * which gateways choose a port for port 0, and above the ports that fetch blocks (Fetch section 2.9; the last
 * is 10080).
 */
const FIRST_PORT = 20_000
const PORTS = 12_000
/**
 * Step between processes, a golden ratio of the range: concurrent processes get distant ranges, whatever
 * their IDs.
 */
const STRIDE = 7417
let asked = 0

/** Returns a loopback port on which nothing listens. */
export async function closedPort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + ((process.pid * STRIDE + asked++) % PORTS)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
