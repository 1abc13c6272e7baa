import net from 'node:net'

/** A complete answer. */
export interface ClientAnswer {
  readonly status: number
  /** Without the empty line after it. */
  readonly head: string
  readonly body: string
}

/** Hears of what comes over connections. */
export interface ConnectionEvents {
  /** It can be asked. */
  free(connection: ClientConnection): void
  /** The answer to the request under way. */
  answered(connection: ClientConnection, answer: ClientAnswer): void
  /** Bytes have come that no request had asked for; the connection is of no use any more. */
  unasked(connection: ClientConnection): void
  /** It cannot be asked any more, with no request under way. */
  left(connection: ClientConnection): void
  /** It is gone, also one that never came about. */
  closed(connection: ClientConnection): void
}

/** A connection of a client with at most one request under way; its answers have a Content-Length. */
export class ClientConnection {
  /** Resolves once it can be asked, or has not come about. */
  readonly ready: Promise<void>
  readonly #socket: net.Socket
  readonly #events: ConnectionEvents
  #text = ''
  #hasEnded = false
  #dueMono: number | null = null
  #lastMono = performance.now()
  #isAgain = false
  #isOpen = false
  #hasBegun = false
  #isKept = false

  constructor(port: number, events: ConnectionEvents) {
    this.#events = events
    this.#socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => this.#read(chunk))
    this.#socket.on('end', () => this.#leave())
    this.#socket.on('error', () => {})
    this.ready = new Promise((resolve) => {
      this.#socket.once('close', () => resolve())
      this.#socket.once('connect', () => {
        this.#isOpen = true
        events.free(this)
        resolve()
      })
    })
    this.#socket.once('close', () => events.closed(this))
  }

  /** When the request under way was due; null: none is under way. */
  get dueMono(): number | null {
    return this.#dueMono
  }

  /**
   * When it was asked last, or begun. Not when the answer was read: it may have waited here, while the server counted
   * how long the connection is idle.
   */
  get lastMono(): number {
    return this.#lastMono
  }

  /** Whether it ever came about. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Whether the server may not have seen the request under way: it was on a connection that had brought answers, and
   * that ended without a byte of one. One that was sent before is not sent a third time.
   */
  get maySendAgain(): boolean {
    return this.#isKept && !this.#isAgain && !this.#hasBegun
  }

  /** @param isAgain it was sent before, over another connection */
  send(request: string, dueMono: number, isAgain: boolean): void {
    this.#dueMono = dueMono
    this.#lastMono = performance.now()
    this.#isAgain = isAgain
    this.#socket.write(request)
  }

  /** Gives up the request under way. */
  close(): void {
    this.#dueMono = null
    this.#socket.destroy()
  }

  #read(chunk: string): void {
    if (this.#dueMono === null) {
      this.#gotUnasked()
      return
    }
    this.#text += chunk
    this.#hasBegun = true
    const end = this.#text.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#text.slice(0, end + 2)
    const bodyAt = end + 4
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    if (this.#text.length < bodyAt + length) return
    const body = this.#text.slice(bodyAt, bodyAt + length)
    const hasMore = this.#text.length > bodyAt + length
    this.#text = ''
    this.#done(head, body, hasMore)
  }

  #done(head: string, body: string, hasMore: boolean): void {
    // It was the last answer on it, so that another request would meet a server that has left.
    if (/\r\nconnection: *close\r\n/i.test(head)) this.#hasEnded = true
    if (hasMore) this.#events.unasked(this)
    if (hasMore) this.#hasEnded = true
    this.#isKept = true
    this.#hasBegun = false
    this.#events.answered(this, { status: Number(head.slice(9, 12)), head, body })
    this.#dueMono = null
    if (this.#hasEnded) this.#socket.destroy()
    else this.#events.free(this)
  }

  #gotUnasked(): void {
    if (this.#hasEnded) return
    this.#events.unasked(this)
    this.#leave()
  }

  /** The server's side is of no use any more; a request under way is lost with it. */
  #leave(): void {
    this.#hasEnded = true
    if (this.#dueMono === null) this.#events.left(this)
    this.#socket.destroy()
  }
}
