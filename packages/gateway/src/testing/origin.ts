import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export { closedPort } from '@sluice/core/testing'

/** An upstream controlled by a test. */
export interface Origin {
  readonly url: string
  readonly port: number
  /** Number of connections accepted. */
  readonly connections: () => number
  /** Stops accepting connections. Existing ones stay open. */
  readonly stop: () => void
}

/** A request as seen by a raw origin. */
export interface SeenRequest {
  readonly head: string
  readonly body: string
}

/** Starts an HTTP origin. It is closed after the test. */
export async function httpOrigin(t: TestContext, handler: http.RequestListener): Promise<Origin> {
  const server = http.createServer(handler)
  let count = 0
  server.on('connection', () => count++)
  await listen(server)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { ...place(server), connections: () => count, stop: () => void server.close() }
}

/** Starts an origin that handles raw connections and may send anything. It is closed after the test. */
export async function rawOrigin(
  t: TestContext,
  onSocket: (socket: net.Socket, nth: number) => void,
): Promise<Origin> {
  const sockets = new Set<net.Socket>()
  let count = 0
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    onSocket(socket, count++)
  })
  await listen(server)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { ...place(server), connections: () => count, stop: () => void server.close() }
}

/** Returns a handler that answers every request head on a raw connection with the same bytes. */
export function answering(
  bytes: string | Buffer,
  then?: (socket: net.Socket) => void,
): (socket: net.Socket) => void {
  return (socket) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (!text.includes('\r\n\r\n')) return
      text = ''
      socket.write(bytes as Buffer)
      then?.(socket)
    })
  }
}

/** Starts an origin that responds with what it received: method, URL, raw header lines and body length. */
export function echoOrigin(t: TestContext): Promise<Origin> {
  return httpOrigin(t, (req, res) => {
    let bytes = 0
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    req.on('end', () => {
      const seen = {
        method: req.method,
        url: req.url,
        headers: req.headers,
        rawHeaders: req.rawHeaders,
        bytes,
      }
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify(seen))
    })
  })
}

function listen(server: net.Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
}

function place(server: net.Server): { readonly url: string; readonly port: number } {
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port }
}
