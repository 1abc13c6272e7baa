import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { RoutePlan, WebSocketPlan } from '@sluice/config'
import { WebSocket, WebSocketServer } from 'ws'

/** Default WebSocket settings of a test route. */
export const WEBSOCKETS: WebSocketPlan = {
  idleMs: 60_000,
  maxMessageBytes: 1_048_576,
  rate: null,
  compression: 'refuse',
}

/** Returns a route to the upstream `up` that allows WebSockets. */
export function webSocketRoute(overrides: Partial<WebSocketPlan> = {}): Partial<RoutePlan> & { id: string } {
  return { id: 'ws', websocket: { ...WEBSOCKETS, ...overrides } }
}

export interface WebSocketOrigin {
  readonly url: string
  readonly port: number
  /** Upgraded connections, in order. */
  readonly sockets: readonly WebSocket[]
  readonly requests: readonly http.IncomingMessage[]
}

export interface OriginOptions {
  readonly tls?: https.ServerOptions
  readonly compresses?: boolean
  readonly protocols?: (offered: Set<string>) => string | false
  /** Message handler; by default every message is echoed. */
  readonly onSocket?: (socket: WebSocket) => void
  readonly maxPayload?: number
}

/** Starts a WebSocket target that uses `ws`. It is closed after the test. */
export async function webSocketOrigin(t: TestContext, options: OriginOptions = {}): Promise<WebSocketOrigin> {
  const server = options.tls === undefined ? http.createServer() : https.createServer(options.tls)
  const sockets: WebSocket[] = []
  const requests: http.IncomingMessage[] = []
  const wss = new WebSocketServer({
    server,
    perMessageDeflate: options.compresses === true ? { threshold: 0 } : false,
    ...(options.protocols === undefined ? {} : { handleProtocols: options.protocols }),
    ...(options.maxPayload === undefined ? {} : { maxPayload: options.maxPayload }),
  })
  wss.on('connection', (socket, request) => {
    sockets.push(socket)
    requests.push(request)
    socket.on('error', () => {})
    if (options.onSocket !== undefined) options.onSocket(socket)
    else socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of wss.clients) socket.terminate()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    sockets,
    requests,
  }
}

/** Opens a client. It is terminated after the test. */
export async function openWebSocket(
  t: TestContext,
  url: string,
  options: WebSocket.ClientOptions & { readonly protocols?: string[] } = {},
): Promise<WebSocket> {
  const client = dial(t, url, options)
  await once(client, 'open')
  return client
}

function dial(
  t: TestContext,
  url: string,
  { protocols = [], ...options }: WebSocket.ClientOptions & { readonly protocols?: string[] },
): WebSocket {
  const client = new WebSocket(url.replace(/^http/, 'ws'), protocols, {
    perMessageDeflate: false,
    ...options,
  })
  t.after(() => client.terminate())
  client.on('error', () => {})
  return client
}

/** Returns the response with which a handshake is refused. */
export async function refusedWith(
  t: TestContext,
  url: string,
  options: WebSocket.ClientOptions = {},
): Promise<http.IncomingMessage> {
  const client = dial(t, url, options)
  const [, response] = (await once(client, 'unexpected-response')) as [unknown, http.IncomingMessage]
  return response
}

/** Waits for the close of a connection. */
export async function closeOf(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  return { code, reason: reason.toString() }
}

/** Waits for the next message. */
export async function messageOf(socket: WebSocket): Promise<Buffer> {
  const [data] = (await once(socket, 'message')) as [Buffer]
  return data
}
