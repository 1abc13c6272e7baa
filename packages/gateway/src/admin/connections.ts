import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** One open connection, with the request that came on it last. */
interface Connection {
  readonly socket: Socket
  readonly address: string
  request: IncomingMessage | null
  response: ServerResponse | null
}

/**
 * The open connections of the admin API, at most `most`. One more takes the place of the oldest that waits for its client:
 * for the rest of a request, for the next one, or for an answer to be read. So connections that send nothing never keep
 * a health check or a scrape out. The address with the most connections loses one, so that other addresses keep theirs.
 */
export class Connections {
  readonly #most: number
  /** By address and port of the client; the oldest first. */
  readonly #open = new Map<string, Connection>()

  constructor(most: number) {
    this.#most = most
  }

  /** Takes a connection in, or closes it when every other one is being answered. */
  add(socket: Socket): void {
    const key = keyOf(socket)
    this.#open.set(key, { socket, address: socket.remoteAddress ?? '', request: null, response: null })
    socket.once('close', () => this.#open.delete(key))
    if (this.#open.size > this.#most) (this.#oldestWaiting() ?? socket).destroy()
  }

  /** A request has begun on a connection. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(keyOf(request.socket))
    if (connection === undefined) return
    connection.request = request
    connection.response = response
  }

  /** Closes those whose request is not there yet. */
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

/** Whether the gateway is at work for it: the request is there, and its answer is not. */
function isAnswering({ request, response }: Connection): boolean {
  return request?.complete === true && response?.headersSent === false && !response.destroyed
}

function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
