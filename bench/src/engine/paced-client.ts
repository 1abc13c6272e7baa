import type { EventEmitter } from 'node:events'
import type { ErrorClass } from '../model/engine.js'

/**
 * The used parts of an autocannon connection. Members with an underscore are internal to autocannon and belong to the
 * version in package.json.
 */
export interface AutocannonClient extends EventEmitter {
  /** Called at the start and after every response, when the client has no current request. */
  _doRequest(): void
  _connect(): void
  _resetConnection(): void
  _destroyConnection(): void
  readonly conn?: unknown
  readonly parser: { reinitialize(kind: 'RESPONSE'): void }
  getRequestBuffer(): Buffer
  readonly pipelinedRequests: { clear(): void; addBody(chunk: unknown): void }
}

/** A request in flight. */
export interface SentRequest {
  /** Start of its latency, on the monotonic clock. */
  readonly fromMono: number
  /** True if it was planned before the measured time. Without a plan, the time of the response decides. */
  readonly isEarly: boolean
}

/** Bytes and times of one request beyond its latency. */
export interface Transfer {
  readonly sentBytes: number
  /** Size of the response, 0 if there was none. */
  readonly bytes: number
  /** Time the head of the response was received, on the monotonic clock. */
  readonly headMono: number
}

/** Decides when a connection sends, and observes the results. */
export interface ClientEvents {
  /** The connection has no current request. */
  free(client: PacedClient): void
  /** The connection cannot send at present. */
  gone(client: PacedClient): void
  answered(sent: SentRequest, status: number, transfer: Transfer): void
  failed(sent: SentRequest, kind: ErrorClass, transfer: Transfer): void
}

/** Time in milliseconds after which autocannon abandons a request. */
export const TIMEOUT_MS = 10_000
/** Pause after a refused connection, in milliseconds, to avoid a busy loop. */
const REFUSED_PAUSE_MS = 10

/**
 * An autocannon connection that sends on demand. Autocannon's own rate sends the requests of a second in one burst,
 * which is a short overload. It also does not count requests of closed connections and keeps their start time, so
 * later latencies are too long.
 */
export class PacedClient {
  readonly #client: AutocannonClient
  readonly #events: ClientEvents
  readonly #ask: () => void
  #underWay: SentRequest | null = null
  #sentMono = 0
  #isClosing = false
  #isRefused = false
  #headMono = 0

  constructor(client: AutocannonClient, events: ClientEvents) {
    this.#client = client
    this.#events = events
    this.#ask = client._doRequest.bind(client)
    const connect = client._connect.bind(client)
    client._doRequest = () => this.#free()
    client._connect = () => this.#connect(connect)
    // Response bodies are not needed, and joining them would cost time.
    client.pipelinedRequests.addBody = () => {}
    client.on('response', (status: number, bytes: number) => this.#answered(status, bytes))
    client.on('connError', (error: NodeJS.ErrnoException) => this.#failed(error))
    client.on('headers', ({ shouldKeepAlive }: { readonly shouldKeepAlive: boolean }) => {
      this.#isClosing = !shouldKeepAlive
      this.#headMono = performance.now()
    })
  }

  send(sent: SentRequest): void {
    this.#underWay = sent
    this.#sentMono = performance.now()
    this.#client.pipelinedRequests.clear()
    this.#ask()
  }

  #free(): void {
    this.#drop(() => (performance.now() - this.#sentMono >= TIMEOUT_MS ? 'timeout' : 'reset'))
    if (this.#isClosing) {
      this.#isClosing = false
      this.#client._resetConnection()
    } else this.#events.free(this)
  }

  #connect(connect: () => void): void {
    const begin = (): void => {
      this.#isRefused = false
      // After an end followed by an error autocannon connects twice, and both would send.
      if (this.#client.conn !== undefined) this.#client._destroyConnection()
      // Remains of a cut-off response in the parser would be read as the next response.
      this.#client.parser.reinitialize('RESPONSE')
      connect()
    }
    if (this.#isRefused) setTimeout(begin, REFUSED_PAUSE_MS)
    else begin()
  }

  #answered(status: number, bytes: number): void {
    const sent = this.#underWay
    this.#underWay = null
    if (sent !== null) this.#events.answered(sent, status, this.#transfer(bytes))
  }

  #failed(error: NodeJS.ErrnoException): void {
    const kind = classOf(error)
    this.#isRefused = kind === 'connect'
    this.#isClosing = false
    this.#events.gone(this)
    this.#drop(() => kind)
  }

  #transfer(bytes: number): Transfer {
    return { bytes, sentBytes: this.#client.getRequestBuffer().length, headMono: this.#headMono }
  }

  #drop(kind: () => ErrorClass): void {
    const sent = this.#underWay
    this.#underWay = null
    if (sent === null) return
    this.#events.failed(sent, kind(), this.#transfer(0))
  }
}

function classOf({ code, syscall }: NodeJS.ErrnoException): ErrorClass {
  if (syscall === 'connect' || syscall === 'getaddrinfo') return 'connect'
  if (code === 'ETIMEDOUT') return 'timeout'
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'reset' : 'other'
}
