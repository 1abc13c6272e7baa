import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { MEMBERS_PATH } from '../protocol/messages.js'

/** One direction of a connection. */
interface Direction {
  readonly waiting: { readonly type: string; readonly content: RawData | string }[]
  readonly send: (content: RawData | string) => void
}

/** A proxy between one member and its controller. It holds messages back or cuts the connection. */
export class MemberProxy {
  readonly url: string
  /** Types of the messages that were passed on so far. */
  readonly passed: string[] = []
  readonly #controller: () => string
  readonly #sockets = new Set<WebSocket>()
  #held: readonly string[] = []
  #isCut = false
  #directions: readonly Direction[] = []

  private constructor(server: Server, controller: () => string) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#controller = controller
    const sockets = new WebSocketServer({ noServer: true })
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (this.#isCut) socket.destroy()
      else sockets.handleUpgrade(request, socket, head, (member) => this.#join(member, request))
    })
  }

  /** Starts a proxy. @param controller returns the URL of the controller */
  static async start(t: Pick<TestContext, 'after'>, controller: () => string): Promise<MemberProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new MemberProxy(server, controller)
    t.after(() => {
      proxy.cut()
      server.close()
    })
    return proxy
  }

  /** Holds messages of these types back, and all behind them. Without types, all messages are passed on. */
  hold(...types: readonly string[]): void {
    this.#held = types
    for (const direction of this.#directions) this.#passOn(direction)
  }

  /** True while a message of this type is the next one that is held back. */
  isHolding(type: string): boolean {
    return this.#directions.some(({ waiting }) => waiting[0]?.type === type)
  }

  /** Cuts the connection, and refuses new ones until `mend`. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.terminate()
  }

  /** Ends what `cut` and `hold` began. */
  mend(): void {
    this.#isCut = false
    this.hold()
  }

  #join(member: WebSocket, { headers: { authorization = '' } }: IncomingMessage): void {
    const url = `${this.#controller().replace('http', 'ws')}${MEMBERS_PATH}`
    const controller = new WebSocket(url, { headers: { authorization } })
    const opened = once(controller, 'open')
    opened.catch(() => {})
    const up: Direction = {
      waiting: [],
      send: (content) =>
        void opened.then(
          () => controller.send(content),
          () => {},
        ),
    }
    const down: Direction = { waiting: [], send: (content) => member.send(content) }
    this.#directions = [up, down]
    for (const [from, to, direction] of [
      [member, controller, up],
      [controller, member, down],
    ] as const) {
      this.#sockets.add(from)
      from.on('message', (content: Buffer, isBinary) => {
        const text = content.toString()
        const { type } = isBinary ? { type: 'chunk' } : (JSON.parse(text) as { readonly type: string })
        direction.waiting.push({ type, content: isBinary ? content : text })
        this.#passOn(direction)
      })
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        to.terminate()
      })
    }
  }

  #passOn({ waiting, send }: Direction): void {
    while (waiting.length > 0 && !this.#held.includes(waiting[0]!.type)) {
      const { type, content } = waiting.shift()!
      this.passed.push(type)
      send(content)
    }
  }
}
