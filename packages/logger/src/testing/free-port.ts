import net from 'node:net'

/** Below the ports that the system hands out by itself, so that the port is still free after an outage. */
const FIRST_PORT = 10_000
const PORTS = 9_000
let asked = 0

/** A port of the loopback address on which nobody listens; processes look for it at different locations. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + ((process.pid * 7417 + asked++) % PORTS)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
