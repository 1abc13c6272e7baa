import net from 'node:net'

/** Below the ports that the system gives to outgoing connections, so that no load takes the port of a server. */
const FIRST_PORT = 20_000
const PORTS = 9_000
let asked = 0

/** A port of the loopback address on which nobody listens; runs side by side look for it at different places. */
export async function freePort(): Promise<number> {
  for (let i = 0; i < PORTS; i++) {
    const port = FIRST_PORT + ((process.pid * 37 + asked++) % PORTS)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${FIRST_PORT} to ${FIRST_PORT + PORTS} is free`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
