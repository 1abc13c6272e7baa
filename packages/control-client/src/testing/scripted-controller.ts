import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { TlsOptions } from 'node:tls'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Bundle, bundleOf } from '../manifest/manifest.js'
import {
  type ControllerMessage,
  MEMBERS_PATH,
  type MemberMessage,
  PROTOCOL_VERSION,
  parseMemberMessage,
} from '../protocol/messages.js'

/** Options of a scripted controller. */
export interface ControllerOptions {
  readonly port?: number
  readonly tls?: TlsOptions
  readonly store?: string
  readonly reportMs?: number
  /** Status with which handshakes are refused; absent: they are accepted. */
  readonly refuse?: (request: IncomingMessage) => number | null
  /** First message in place of `welcome`; null: none. */
  readonly welcome?: string | null
}

const STORE = '00000000-0000-4000-8000-000000000001'

/** Creates a bundle of one document and more files. */
export function testBundle(document: string, files: Readonly<Record<string, string>> = {}): Bundle {
  const all = Object.entries({ 'gateway.yaml': document, ...files })
  return bundleOf(new Map(all.map(([path, text]) => [path, Buffer.from(text)])))
}

/** A controller whose messages a test decides. */
export class ScriptedController {
  readonly port: number
  readonly url: string
  /** Connections so far, the newest last. */
  readonly members: ScriptedMember[] = []
  /** Authorization headers of the handshakes so far. */
  readonly authorizations: (string | undefined)[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, options: ControllerOptions) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`
    const { store = STORE, reportMs = 200, refuse, welcome } = options
    const sockets = new WebSocketServer({ noServer: true })
    server.on('connection', (socket) => this.#sockets.add(socket))
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.authorizations.push(request.headers.authorization)
      const status = request.url === MEMBERS_PATH ? (refuse?.(request) ?? null) : 404
      if (status !== null) {
        const body = '{"detail":"not you"}'
        socket.end(
          `HTTP/1.1 ${status} No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
        )
        return
      }
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const member = new ScriptedMember(webSocket)
        this.members.push(member)
        const first = { type: 'welcome', protocol: PROTOCOL_VERSION, store, reportMs } as const
        if (welcome === undefined) void member.next('hello').then(() => member.send(first))
        else if (welcome !== null) webSocket.send(welcome)
      })
    })
  }

  /** Starts a controller. It is closed after the test. */
  static async start(t: TestContext, options: ControllerOptions = {}): Promise<ScriptedController> {
    const server = options.tls === undefined ? createServer() : createTlsServer(options.tls)
    server.on('tlsClientError', () => {})
    server.listen(options.port ?? 0, '127.0.0.1')
    await once(server, 'listening')
    const controller = new ScriptedController(server, options)
    t.after(() => controller.close())
    return controller
  }

  /** Returns the newest connection, or null if it is closed or there is none. */
  get member(): ScriptedMember | null {
    const member = this.members.at(-1)
    return member?.isOpen ? member : null
  }

  /** Closes all connections abruptly and stops listening, like a killed process. */
  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** One connection of a gateway to a scripted controller. */
export class ScriptedMember {
  readonly received: MemberMessage[] = []
  /** Chunks that were sent so far. */
  sentChunks = 0
  /** Changes the chunks that are sent; null for none. */
  onWant: ((chunk: Buffer) => Buffer | null) | null = (chunk) => chunk
  readonly socket: WebSocket
  #bundle: Bundle | null = null
  #taken = 0
  readonly #waiters = new Set<() => void>()

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer) => {
      const message = parseMemberMessage(data.toString())
      if (message === null) throw new Error(`invalid message: ${data.toString().slice(0, 200)}`)
      this.received.push(message)
      if (message.type === 'want') this.#sendChunks(message.chunks)
      for (const check of [...this.#waiters]) check()
    })
    socket.on('error', () => {})
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN
  }

  send(message: ControllerMessage): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Sends an order about a bundle. */
  order(type: 'prepare' | 'serve', deploy: number, bundle: Bundle, holdMs = 60_000): void {
    this.#bundle = bundle
    const { manifest } = bundle
    const about = { deploy, manifest, note: 'a note', actor: 'ann' }
    this.send(type === 'prepare' ? { type, ...about, holdMs } : { type, ...about })
  }

  /** Sends an order, and returns the answer. */
  async ask(type: 'prepare' | 'serve', deploy: number, bundle: Bundle, holdMs?: number): Promise<string> {
    const answer = this.next(type === 'prepare' ? 'vote' : 'outcome')
    this.order(type, deploy, bundle, holdMs)
    return textOf(await answer)
  }

  async settle(type: 'activate' | 'discard', deploy: number): Promise<string> {
    const answer = this.next('outcome')
    this.send({ type, deploy })
    return textOf(await answer)
  }

  /** Returns the next message of a type, from those that were not returned or skipped yet. */
  async next<T extends MemberMessage['type']>(
    type: T,
  ): Promise<Extract<MemberMessage, { readonly type: T }>> {
    const isFound = (): boolean => {
      const found = this.received.findIndex((message, i) => i >= this.#taken && message.type === type)
      if (found >= 0) this.#taken = found + 1
      return found >= 0
    }
    if (!isFound())
      await new Promise<void>((resolve) => {
        const check = (): void => {
          if (!isFound()) return
          this.#waiters.delete(check)
          resolve()
        }
        this.#waiters.add(check)
      })
    return this.received[this.#taken - 1] as Extract<MemberMessage, { readonly type: T }>
  }

  #sendChunks(digests: readonly string[]): void {
    for (const digest of digests) {
      const bytes = this.onWant?.(this.#bundle!.chunks.get(digest)!) ?? null
      if (bytes === null) continue
      this.sentChunks++
      this.socket.send(bytes)
    }
  }
}

/** `prepared`, or `refused: reason; reason` */
function textOf(message: Extract<MemberMessage, { readonly type: 'vote' | 'outcome' }>): string {
  const answer = message.type === 'vote' ? message.vote : message.outcome
  return message.reasons.length === 0 ? answer : `${answer}: ${message.reasons.join('; ')}`
}
