import net, { type AddressInfo } from 'node:net'

type Way = readonly [from: net.Socket, to: net.Socket]

/** A way to a port of the loopback address that can be cut and held up, for one test, while others use the port. */
export class TcpBridge {
  readonly #server: net.Server
  readonly #ways = new Set<Way>()
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

  /** Connections break, and new ones are refused, until `mend`. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const [socket] of this.#ways) socket.destroy()
    await closed
  }

  mend(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
  }

  /** Connections come about and stay open, and nothing passes, until `resume`. */
  pause(): void {
    this.#isPaused = true
    for (const [from, to] of this.#ways) from.unpipe(to).pause()
  }

  resume(): void {
    this.#isPaused = false
    for (const [from, to] of this.#ways) from.pipe(to)
  }

  #add(way: Way): void {
    const [from, to] = way
    this.#ways.add(way)
    from.on('error', () => to.destroy())
    from.on('close', () => {
      this.#ways.delete(way)
      to.destroy()
    })
    if (!this.#isPaused) from.pipe(to)
  }
}
