import http from 'node:http'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { closedPort } from '@sluice/core/testing'

/**
 * Behaviour of an origin. `killed`: nothing listens, and connections are reset. `framing`: a response with
 * two lengths. `surplus`: a second, unsolicited response.
 */
export type Fault =
  | 'none'
  | 'killed'
  | 'hung'
  | 'slow'
  | 'reset'
  | 'garbage'
  | 'framing'
  | 'surplus'
  | 'error'
  | 'cut'

/** An origin that a test breaks and repairs under load. */
export interface FaultyOrigin {
  readonly url: string
  readonly name: string
  /** Ids of the requests received, in order. */
  readonly seen: string[]
  /** Ids of unanswered requests. */
  readonly open: ReadonlySet<string>
  become(fault: Fault): Promise<void>
}

/** Response time of every request in milliseconds. */
const WORK_MS = 2
const SLOW_MS = 3000

/**
 * Starts an origin.
 * @param name text of each response, followed by the request's id from its `x-id` header.
 */
export async function faultyOrigin(t: TestContext, name: string): Promise<FaultyOrigin> {
  const sockets = new Set<Socket>()
  const open = new Set<string>()
  const seen: string[] = []
  let fault: Fault = 'none'
  const server = http.createServer((req, res) => {
    const id = String(req.headers['x-id'])
    seen.push(id)
    open.add(id)
    res.on('close', () => open.delete(id))
    req.resume()
    misbehave(fault, res, `${name} ${id}`)
  })
  // Closing idle connections while a request is on its way would be an unintended fault.
  server.keepAliveTimeout = 0
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await closedPort()
  const listen = (): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen()
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const become = async (next: Fault): Promise<void> => {
    if (fault === 'killed') await listen()
    fault = next
    if (next !== 'killed') return
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.resetAndDestroy()
    await closed
  }
  return { url: `http://127.0.0.1:${port}`, name, seen, open, become }
}

function misbehave(fault: Fault, res: http.ServerResponse, text: string): void {
  const socket = res.socket!
  switch (fault) {
    case 'hung':
      return
    case 'reset':
      socket.resetAndDestroy()
      return
    case 'garbage':
      socket.end('this is no HTTP\r\n\r\n')
      return
    case 'framing':
      socket.write(
        'HTTP/1.1 200 OK\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n\r\n',
      )
      return
    case 'surplus':
      socket.write(`${whole(text)}${whole('for nobody')}`)
      return
    case 'error':
      res.writeHead(500).end(text)
      return
    case 'cut':
      res.writeHead(200, { 'content-length': 100 }).write(text)
      setTimeout(() => socket.resetAndDestroy(), WORK_MS)
      return
    default:
      setTimeout(() => res.end(text), fault === 'slow' ? SLOW_MS : WORK_MS)
  }
}

function whole(text: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}
