import net from 'node:net'

/** What one slice of load gave. */
export interface Slice {
  readonly requests: number
  /** Answers other than 200. */
  readonly wrong: number
}

/**
 * GET requests over kept connections, each with one request under way, whose path can be changed between two slices:
 * the connections, the buffers and the process of the load stay the same, so that the path is all that differs.
 */
export class AlternatingLoad {
  readonly #sockets: net.Socket[] = []
  readonly #host: string
  #request = ''
  #done = 0
  #wrong = 0
  #isClosed = false
  #failure: Error | null = null

  constructor(host: string) {
    this.#host = host
  }

  /** Opens the connections and begins to ask for a path. */
  async open(port: number, connections: number, path: string): Promise<void> {
    this.ask(path)
    for (let i = 0; i < connections; i++) {
      const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve)
        socket.once('error', reject)
      })
      this.#sockets.push(socket)
      this.#drive(socket)
    }
  }

  /** The path of the requests from now on. */
  ask(path: string): void {
    this.#request = `GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n\r\n`
  }

  /** Lets the load run for some milliseconds. @throws Error when a connection failed. */
  async slice(ms: number): Promise<Slice> {
    const done = this.#done
    const wrong = this.#wrong
    await new Promise((resolve) => setTimeout(resolve, ms))
    if (this.#failure !== null) throw this.#failure
    return { requests: this.#done - done, wrong: this.#wrong - wrong }
  }

  close(): void {
    this.#isClosed = true
    for (const socket of this.#sockets) socket.destroy()
  }

  #drive(socket: net.Socket): void {
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (text.length < wholeLength(text)) return
      if (!text.startsWith('HTTP/1.1 200 ')) this.#wrong++
      text = ''
      this.#done++
      socket.write(this.#request)
    })
    socket.on('close', () => {
      if (!this.#isClosed) this.#failure = new Error('the gateway closed a connection of the load')
    })
    socket.on('error', () => {})
    socket.write(this.#request)
  }
}

/** Length of the answer that a text begins; infinite while its head is not complete. */
function wholeLength(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return Number.POSITIVE_INFINITY
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)
  return headEnd + 4 + Number(length?.[1] ?? 0)
}
