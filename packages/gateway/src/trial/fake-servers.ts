import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import type { OpenSocket } from '../upstream/transport/connector.js'
import type { FakeClock } from './fake-clock.js'
import type { NetworkGuard } from './network-guard.js'

/** A response of a fake server. */
export interface FakeResponse {
  readonly status: number
  /** Flat list of names and values. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** Time until the response in milliseconds of the fake clock. */
  readonly delayMs: number
  /** Failure in place of a response. */
  readonly fail: 'refused' | 'reset' | null
}

/** A request as an upstream or another server received it. */
export interface SeenRequest {
  /** Name of the upstream; null for calls of policies. */
  readonly upstream: string | null
  /** Scheme, host and port of the server. */
  readonly origin: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Flat list of names and values, as received. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** Decides the responses of fake servers. */
export interface FakeBehaviour {
  /** Returns true if the next connection to an upstream is refused, which counts as a response. */
  refuses(upstream: string): boolean
  /** Returns the response to a request, or null to close the connection. */
  respond(request: SeenRequest): FakeResponse | null
}

interface Server {
  readonly upstream: string | null
  readonly origin: string
}

/** Replaces all servers that the gateway calls. They share one port, and the client's port identifies the server. */
export class FakeServers {
  behaviour: FakeBehaviour = { refuses: () => false, respond: () => null }
  readonly #clock: FakeClock
  readonly #guard: NetworkGuard
  readonly #server = http.createServer((request, response) => void this.#serve(request, response))
  /** Server that a connection stands for, by the port of its client. */
  readonly #connections = new Map<number, Server>()
  #port = 0

  constructor(clock: FakeClock, guard: NetworkGuard) {
    this.#clock = clock
    this.#guard = guard
  }

  async open(): Promise<void> {
    this.#server.on('connect', (_request, socket) => socket.destroy())
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
    this.#guard.allow(this.#port)
  }

  /** Opens a connection in place of the network. */
  readonly openSocket: OpenSocket = ({ host, port, tls, owner }, settings) => {
    const upstream = owner ?? null
    if (upstream !== null && this.behaviour.refuses(upstream)) {
      const socket = new net.Socket()
      const error = Object.assign(new Error(`connect ECONNREFUSED ${host}:${port}`), { code: 'ECONNREFUSED' })
      process.nextTick(() => socket.destroy(error))
      return socket
    }
    const socket = net.connect({ ...settings, host: '127.0.0.1', port: this.#port })
    let clientPort = 0
    socket.once('connect', () => {
      clientPort = socket.localPort ?? 0
      this.#connections.set(clientPort, { upstream, origin: originOf(host, port, tls !== null) })
    })
    socket.once('close', () => this.#connections.delete(clientPort))
    return socket
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const server = this.#connections.get(request.socket.remotePort ?? 0)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A request that the gateway aborts does not count as received by the upstream.
    const isWhole = await new Promise((resolve) => {
      request.once('end', () => resolve(true)).once('close', () => resolve(false))
    })
    if (server === undefined || isWhole === false) return
    const { method = '', url: path = '', rawHeaders: headers } = request
    const answer = this.behaviour.respond({ ...server, method, path, headers, body: Buffer.concat(chunks) })
    if (answer !== null && answer.delayMs > 0) await this.#clock.advance(answer.delayMs)
    if (answer === null || answer.fail !== null) request.socket.resetAndDestroy()
    else if (!response.destroyed) write(response, answer)
  }
}

/** Writes a response. The connection closes, so that each attempt calls `refuses`. */
function write(response: http.ServerResponse, { status, headers, body }: FakeResponse): void {
  response.sendDate = false
  const hasLength = status >= 200 && status !== 204 && status !== 304
  const length =
    hasLength && !names(headers).includes('content-length') ? ['content-length', `${body.length}`] : []
  response.writeHead(status, [...headers, ...length, 'connection', 'close'])
  response.end(body)
}

function names(headers: readonly string[]): string[] {
  return headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
}

function originOf(host: string, port: number, isSecure: boolean): string {
  const name = host.includes(':') ? `[${host}]` : host
  const isUsual = port === (isSecure ? 443 : 80)
  return `${isSecure ? 'https' : 'http'}://${name}${isUsual ? '' : `:${port}`}`
}
