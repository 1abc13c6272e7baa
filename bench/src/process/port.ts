import net from 'node:net'

/** Loopback address. */
export const LOOPBACK = '127.0.0.1'
/** Below the range for outgoing connections, so that no load takes the port of a server. */
const FIRST_PORT = 20_000
const PORTS = 9_000
let asked = 0

/** Returns a free port on loopback. Concurrent runs start at different numbers. */
export async function freePort(): Promise<number> {
  for (let i = 0; i < PORTS; i++) {
    const port = FIRST_PORT + ((process.pid * 7417 + asked++) % PORTS)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${FIRST_PORT} to ${FIRST_PORT + PORTS} is free`)
}

/** Parses `host:port`. @throws Error if the text is invalid */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const [, host, port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host !== undefined && Number(port) < 65_536) return { host, port: Number(port) }
  throw new Error(`'${text}' is not an address; use host:port, such as 127.0.0.1:9000`)
}

/** Returns why a connection cannot be opened, or null if a process listens. */
export function connectFailure(host: string, port: number, timeoutMs = 5000): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: timeoutMs })
    const end = (failure: string | null): void => {
      socket.destroy()
      resolve(failure)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end('no answer'))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, LOOPBACK, () => server.close(() => resolve(true)))
  })
}
