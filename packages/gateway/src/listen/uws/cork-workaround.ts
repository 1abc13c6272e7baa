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
 * A workaround for upgrading a response to a WebSocket. The upgrade must run outside the response's own cork: when that
 * ends, uWebSockets.js reads flags from memory that already belongs to the WebSocket, and sometimes closes it. Without
 * any cork it warns on stderr. There is one cork per thread, so a loopback connection of this process is corked
 * instead.
 */
export class CorkWorkaround {
  /** uWebSockets.js app of the loopback connection; null before it is opened and after it is lost. */
  #app: TemplatedApp | null = null
  #listening: us_listen_socket | null = null
  #held: WebSocket<unknown> | null = null

  /** Opens the connection unless it is open. It is ready some milliseconds later. */
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
    // Nothing arrives but the handshake response.
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

  /** Runs a function that writes to a response, so that the response's own cork has no effect. */
  run(res: HttpResponse, work: () => void): void {
    const held = this.#held
    // Without the connection, uWebSockets.js prints its warning.
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
