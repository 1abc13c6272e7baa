import net, { type AddressInfo } from 'node:net'

type Link = readonly [from: net.Socket, to: net.Socket]

/** Proxy to a loopback port that a test can cut or pause without affecting other users of the port. */
export class TcpBridge {
  readonly #server: net.Server
  readonly #links = new Set<Link>()
  #port = 0
  #isPaused = false

  private constructor(output: number) {
    this.#server = net.createServer((socket) => {
      const onward = net.connect(output, '127.0.0.1')
      this.#add([socket, onward])
      this.#add([onward, socket])
    })
  }

  static async to(output: number): Promise<TcpBridge> {
    const bridge = new TcpBridge(output)
    await bridge.mend()
    bridge.#port = (bridge.#server.address() as AddressInfo).port
    return bridge
  }

  get port(): number {
    return this.#port
  }

  /** Cuts all connections and refuses new ones until `mend`. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const [socket] of this.#links) socket.destroy()
    await closed
  }

  mend(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
  }

  /** Stops forwarding until `resume`. Connections stay open, and new ones are accepted. */
  pause(): void {
    this.#isPaused = true
    for (const [from, to] of this.#links) from.unpipe(to).pause()
  }

  resume(): void {
    this.#isPaused = false
    for (const [from, to] of this.#links) from.pipe(to)
  }

  #add(link: Link): void {
    const [from, to] = link
    this.#links.add(link)
    from.on('error', () => to.destroy())
    from.on('close', () => {
      this.#links.delete(link)
      to.destroy()
    })
    if (!this.#isPaused) from.pipe(to)
  }
}
