import net from 'node:net'

/** A complete response. */
export interface ClientAnswer {
  readonly status: number
  /** Head without the final empty line. */
  readonly head: string
  readonly body: string
}

/** Events of client connections. */
export interface ConnectionEvents {
  /** The connection is ready for a request. */
  free(connection: ClientConnection): void
  /** The response to the current request has arrived. */
  answered(connection: ClientConnection, answer: ClientAnswer): void
  /** Unexpected bytes have arrived. The connection can no longer be used. */
  unasked(connection: ClientConnection): void
  /** The connection can no longer be used. It has no current request. */
  left(connection: ClientConnection): void
  /** The connection has closed, or could not be opened. */
  closed(connection: ClientConnection): void
}

/** A client connection with at most one current request. Responses have a Content-Length. */
export class ClientConnection {
  /** Resolves when the connection is ready or has failed. */
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

  /** Planned time of the current request, or null. */
  get dueMono(): number | null {
    return this.#dueMono
  }

  /**
   * Time of the last request or of the connect, on the monotonic clock. Not the time of the response: it may have
   * waited here while the server counted idle time.
   */
  get lastMono(): number {
    return this.#lastMono
  }

  /** True if the connection was ever open. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * True if the server may not have seen the current request: the connection had delivered responses before, and
   * closed without a byte of this one. A request is sent again only once.
   */
  get maySendAgain(): boolean {
    return this.#isKept && !this.#isAgain && !this.#hasBegun
  }

  /** Sends a request. @param isAgain true if it was sent before on another connection */
  send(request: string, dueMono: number, isAgain: boolean): void {
    this.#dueMono = dueMono
    this.#lastMono = performance.now()
    this.#isAgain = isAgain
    this.#socket.write(request)
  }

  /** Closes the connection and abandons the current request. */
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
    // The server closes after this response, so no further request may be sent.
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

  /** Marks the connection as unusable. A current request is lost. */
  #leave(): void {
    this.#hasEnded = true
    if (this.#dueMono === null) this.#events.left(this)
    this.#socket.destroy()
  }
}
