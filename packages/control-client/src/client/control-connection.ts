import { messageOf, visibleText } from '@sluice/core'
import { type RawData, WebSocket } from 'ws'
import {
  type ControllerMessage,
  LEAVING_CODE,
  MAX_MESSAGE_BYTES,
  MEMBERS_PATH,
  type MemberMessage,
  parseControllerMessage,
} from '../protocol/messages.js'
import { type Credentials, openSocket } from './open-socket.js'

/** Times of a connection in milliseconds. */
export interface ConnectionTimes {
  /** Maximum time to connect, and then until the first message. */
  readonly handshakeMs: number
  /** Interval of pings. Without any sign of the controller for two of them, the connection is closed. */
  readonly pingMs: number
  /** Delay before the second attempt; doubled with each further one. */
  readonly retryMs: number
  readonly maxRetryMs: number
}

/** Options of `ControlConnection`. */
export interface ConnectionOptions {
  /** Origins of controllers, `https://HOST:PORT`, tried in turn. */
  readonly urls: readonly string[]
  /** Returns the credentials for an attempt, so that renewed files are used. @throws Error if a file cannot be read */
  readonly credentials: () => Credentials
  readonly times?: Partial<ConnectionTimes>
  /** Returns the first message. */
  readonly hello: () => Promise<MemberMessage>
  /** Called with each message. Throws an Error to close the connection. */
  readonly onMessage: (message: ControllerMessage) => void
  /** Called with each binary message. Throws an Error to close the connection. */
  readonly onChunk: (bytes: Buffer) => void
  /** Called when the connection is up, down, or down for another reason. */
  readonly onChange: (status: ConnectionStatus) => void
}

/** State of the connection. */
export interface ConnectionStatus {
  readonly isConnected: boolean
  /** Time since which it is up or down, ISO 8601. */
  readonly since: string
  /** Controller of the connection, or of the last attempt. */
  readonly url: string
  /** Reason why it is down, or null. */
  readonly problem: string | null
}

/** The longest delay is a fraction of the default deadline of deploys: until then, members can return. */
const TIMES: ConnectionTimes = { handshakeMs: 10_000, pingMs: 10_000, retryMs: 500, maxRetryMs: 5000 }
/** Bytes that may wait for a slow controller. Reports are skipped above. */
const MAX_WAITING_BYTES = 4 * MAX_MESSAGE_BYTES
const MAX_REFUSAL_BYTES = 4096
/** Maximum time for the answer of the controller to a close frame, in milliseconds. */
const LEAVING_MS = 1000

/** A connection to one of several controllers, opened again whenever it breaks. */
export class ControlConnection {
  readonly #options: ConnectionOptions
  readonly #times: ConnectionTimes
  #status: ConnectionStatus
  #socket: WebSocket | null = null
  /** Attempts since the last connection that lasted. */
  #failures = 0
  #urlIndex = 0
  #retry: NodeJS.Timeout | undefined
  #ping: NodeJS.Timeout | undefined
  #lastContactMono: number | null = null
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#times = { ...TIMES, ...options.times }
    this.#status = {
      isConnected: false,
      since: new Date().toISOString(),
      url: options.urls[0]!,
      problem: 'connecting',
    }
  }

  /** Connects, and again after each failure, until `close`. */
  open(): void {
    void this.#attempt()
  }

  get status(): ConnectionStatus {
    return this.#status
  }

  /** Time since the controller was last heard from in milliseconds, or null if it never was. */
  get silenceMs(): number | null {
    return this.#lastContactMono === null ? null : performance.now() - this.#lastContactMono
  }

  /** Sends a message. It is lost if there is no connection, or if the controller reads too slowly. */
  send(message: MemberMessage): void {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > MAX_WAITING_BYTES) return
    socket.send(JSON.stringify(message))
  }

  /** Closes the connection. `isLeaving`: tells the controller that the gateway has shut down gracefully. */
  close({ isLeaving = false } = {}): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearInterval(this.#ping)
    const socket = this.#socket
    if (!isLeaving) socket?.terminate()
    else {
      socket?.close(LEAVING_CODE)
      setTimeout(() => socket?.terminate(), LEAVING_MS).unref()
    }
  }

  async #attempt(): Promise<void> {
    const { urls, credentials, hello } = this.#options
    const url = urls[this.#urlIndex % urls.length]!
    const startedMono = performance.now()
    let problem: string
    try {
      const known = credentials()
      const first = await hello()
      const socket = await openSocket(new URL(url), known, this.#times.handshakeMs)
      if (this.#isClosed) return void socket.destroy()
      const headers = known.token === null ? {} : { authorization: `Bearer ${known.token}` }
      problem = await this.#use(
        new WebSocket(new URL(MEMBERS_PATH, url.replace(/^http/, 'ws')), {
          headers,
          createConnection: () => socket,
          maxPayload: MAX_MESSAGE_BYTES,
          perMessageDeflate: false,
          handshakeTimeout: this.#times.handshakeMs,
        }),
        first,
        url,
      )
    } catch (error) {
      problem = messageOf(error)
    }
    if (this.#isClosed) return
    const { pingMs, retryMs, maxRetryMs } = this.#times
    const hasLasted = this.#status.isConnected && performance.now() - startedMono > pingMs
    this.#socket = null
    clearInterval(this.#ping)
    this.#change({ isConnected: false, url, problem: visibleText(problem) })
    this.#failures = hasLasted ? 0 : this.#failures + 1
    this.#urlIndex++
    const round = Math.floor(Math.max(0, this.#failures - 1) / urls.length)
    const delayMs = Math.min(maxRetryMs, retryMs * 2 ** Math.min(round, 16)) * (0.5 + Math.random() / 2)
    this.#retry = setTimeout(() => void this.#attempt(), delayMs)
  }

  /** Uses a connection until it closes. Resolves with the reason. */
  #use(socket: WebSocket, hello: MemberMessage, url: string): Promise<string> {
    this.#socket = socket
    return new Promise((resolve) => {
      let problem: string | null = null
      let isHeard = true
      let isWelcome = false
      const fail = (reason: string): void => {
        problem ??= reason
        socket.terminate()
      }
      const late = setTimeout(() => fail('the controller does not answer'), this.#times.handshakeMs)
      const heard = (): void => {
        isHeard = true
        this.#lastContactMono = performance.now()
      }
      socket.on('open', () => {
        socket.send(JSON.stringify(hello))
        this.#ping = setInterval(() => {
          if (!isHeard) fail('the controller does not answer pings')
          isHeard = false
          socket.ping()
        }, this.#times.pingMs)
      })
      socket.on('pong', heard)
      socket.on('ping', heard)
      socket.on('message', (bytes, isBinary) => {
        if (problem !== null) return
        heard()
        try {
          isWelcome = this.#receive(bytes, { isBinary, isWelcome })
          clearTimeout(late)
          this.#change({ isConnected: true, url, problem: null })
        } catch (error) {
          fail(messageOf(error))
        }
      })
      socket.on('unexpected-response', (_, response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          if (text.length < MAX_REFUSAL_BYTES) text += part
        })
        response.on('close', () => fail(refusal(response.statusCode ?? 0, text)))
      })
      socket.on('error', (error) => fail(error.message))
      socket.on('close', (code, reason) => {
        clearTimeout(late)
        resolve(problem ?? closing(code, reason.toString()))
      })
    })
  }

  /** Passes a message on. Returns true. @throws Error if it is invalid, or not allowed here */
  #receive(
    bytes: RawData,
    { isBinary, isWelcome }: { readonly isBinary: boolean; readonly isWelcome: boolean },
  ): true {
    const content = bytes as Buffer
    if (isBinary) {
      if (!isWelcome) throw new Error('the controller sent a chunk before its welcome')
      this.#options.onChunk(content)
      return true
    }
    const message = parseControllerMessage(content.toString('utf8'))
    if (message === null) throw new Error('the controller sent an invalid message')
    if ((message.type === 'welcome') === isWelcome)
      throw new Error(`the controller sent an unexpected '${message.type}'`)
    this.#options.onMessage(message)
    return true
  }

  #change({ isConnected, url, problem }: Omit<ConnectionStatus, 'since'>): void {
    const before = this.#status
    if (before.isConnected === isConnected && before.problem === problem && before.url === url) return
    const since = before.isConnected === isConnected ? before.since : new Date().toISOString()
    this.#status = { isConnected, since, url, problem }
    this.#options.onChange(this.#status)
  }
}

/** Describes a refusal, with the detail of a problem document (RFC 9457) if it has one. */
function refusal(status: number, text: string): string {
  let detail: unknown
  try {
    detail = (JSON.parse(text) as { readonly detail?: unknown }).detail
  } catch {
    // The response has no detail.
  }
  const why = typeof detail === 'string' ? `: ${detail.slice(0, 500)}` : ''
  return `the controller refuses the connection with status ${status}${why}`
}

function closing(code: number, reason: string): string {
  if (reason !== '') return `the controller closed the connection: ${reason}`
  return code === 1006 ? 'the connection broke' : `the controller closed the connection (${code})`
}
