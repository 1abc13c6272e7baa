import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** An open connection with its latest request. */
interface Connection {
  readonly socket: Socket
  readonly address: string
  request: IncomingMessage | null
  response: ServerResponse | null
}

/**
 * The open connections of the admin API, at most `most`. A further one replaces the oldest that waits for its
 * client: for the rest of a request, for the next one, or for a response to be read. So idle connections
 * never block a health check or a scrape. The address with the most connections loses one, so that other
 * addresses keep theirs.
 */
export class Connections {
  readonly #most: number
  /** Connections by address and port of the client, oldest first. */
  readonly #open = new Map<string, Connection>()

  constructor(most: number) {
    this.#most = most
  }

  /** Adds a connection. If all others are being answered, it is closed. */
  add(socket: Socket): void {
    const key = keyOf(socket)
    this.#open.set(key, { socket, address: socket.remoteAddress ?? '', request: null, response: null })
    socket.once('close', () => this.#open.delete(key))
    if (this.#open.size > this.#most) (this.#oldestWaiting() ?? socket).destroy()
  }

  /** Notes that a request has begun on a connection. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(keyOf(request.socket))
    if (connection === undefined) return
    connection.request = request
    connection.response = response
  }

  /** Closes connections without a complete request. */
  closeUnasked(): void {
    for (const { socket, request } of [...this.#open.values()]) {
      if (request === null || !request.complete) socket.destroy()
    }
  }

  #oldestWaiting(): Socket | null {
    const waiting = [...this.#open.values()].filter((connection) => !isAnswering(connection))
    const counts = new Map<string, number>()
    for (const { address } of waiting) counts.set(address, (counts.get(address) ?? 0) + 1)
    const most = Math.max(...counts.values())
    return waiting.find(({ address }) => counts.get(address) === most)?.socket ?? null
  }
}

/** Returns true if the gateway is working on it: the request is complete and the response has not started. */
function isAnswering({ request, response }: Connection): boolean {
  return request?.complete === true && response?.headersSent === false && !response.destroyed
}

function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
