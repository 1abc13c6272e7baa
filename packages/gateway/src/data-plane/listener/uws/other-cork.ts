import {
  App,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocket,
} from 'uWebSockets.js'
import net from 'node:net'

const HANDSHAKE = [
  'GET / HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Version: 13',
  '\r\n',
].join('\r\n')

/**
 * A response must become a WebSocket outside its own cork: when that ends, uWebSockets.js reads the flags of the response
 * in memory that belongs to the WebSocket by then, and at times it closes the connection for what it finds there. Without
 * any cork it warns on stderr. It has one cork in a thread, so this keeps a connection of the process with itself to be the
 * one that is corked.
 */
export class OtherCork {
  /** Null before it is opened, and again when it was lost. */
  #app: TemplatedApp | null = null
  #listening: us_listen_socket | null = null
  #held: WebSocket<unknown> | null = null

  /** Opens the connection unless it is open; it is there some milliseconds later. */
  open(): void {
    if (this.#app !== null) return
    const app = App()
    this.#app = app
    app.ws('/*', {
      idleTimeout: 0,
      sendPingsAutomatically: false,
      open: (ws) => this.#hold(ws),
      close: () => this.#forget(app),
    })
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) this.#forget(app)
      else this.#connect(app, socket)
    })
  }

  #connect(app: TemplatedApp, socket: us_listen_socket): void {
    this.#listening = socket
    const client = net.connect(us_socket_local_port(socket), '127.0.0.1')
    client.on('connect', () => client.write(HANDSHAKE))
    // Nothing else comes than the answer.
    client.resume()
    client.on('error', () => {})
    client.on('close', () => this.#forget(app))
    client.unref()
  }

  #hold(ws: WebSocket<unknown>): void {
    this.#held = ws
    if (this.#listening !== null) us_listen_socket_close(this.#listening)
    this.#listening = null
  }

  /** Runs something that writes to a response so that the response's own cork does nothing. */
  run(res: HttpResponse, work: () => void): void {
    const held = this.#held
    // uWebSockets.js warns of it.
    if (held === null) work()
    else held.cork(() => res.cork(work))
  }

  close(): void {
    const app = this.#app
    this.#app = null
    this.#listening = null
    this.#held = null
    app?.close()
  }

  #forget(app: TemplatedApp): void {
    if (this.#app === app) this.close()
  }
}
