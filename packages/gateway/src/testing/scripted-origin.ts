import type net from 'node:net'
import type { TestContext } from 'node:test'
import { type Origin, rawOrigin } from './origin.js'

/** One connection to a scripted origin. */
export interface ScriptedConnection {
  readonly socket: net.Socket
  /** Paths of its requests, in order. */
  readonly paths: string[]
  isClosed: boolean
}

/** An origin that answers nothing by itself: the test decides which bytes to send when. */
export interface ScriptedOrigin extends Origin {
  readonly opened: readonly ScriptedConnection[]
  /** Returns the paths of all requests on all connections. */
  readonly paths: () => readonly string[]
}

/**
 * Starts a scripted origin.
 * @param onRequest called for each request without a body, in order.
 */
export async function scriptedOrigin(
  t: TestContext,
  onRequest: (connection: ScriptedConnection, path: string) => void = () => {},
): Promise<ScriptedOrigin> {
  const opened: ScriptedConnection[] = []
  const origin = await rawOrigin(t, (socket) => {
    const connection: ScriptedConnection = { socket, paths: [], isClosed: false }
    opened.push(connection)
    socket.setNoDelay(true)
    socket.on('close', () => {
      connection.isClosed = true
    })
    let text = ''
    socket.on('data', (chunk) => {
      const heads = (text + chunk.toString('latin1')).split('\r\n\r\n')
      text = heads.pop()!
      const paths = heads.map((head) => head.split(' ')[1]!)
      connection.paths.push(...paths)
      for (const path of paths) onRequest(connection, path)
    })
  })
  return { ...origin, opened, paths: () => opened.flatMap((connection) => connection.paths) }
}

/** Returns a response with a Content-Length. */
export function ok(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`
}
