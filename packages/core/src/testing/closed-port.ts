import { createServer } from 'node:net'

/**
 * Below the ports that the system hands out by itself, so that the port stays free while nobody listens on it, and above
 * those that fetch refuses to call (Fetch, 2.9: the last one is 10080).
 */
const FIRST_PORT = 10_100
const PORTS = 22_000
/** Golden section of them: the ranges of processes that run at the same time are far apart, whatever their ids. */
const STRIDE = 13_597
let asked = 0

/** A port of the loopback address on which nobody listens. */
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
