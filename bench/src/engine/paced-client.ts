import type { EventEmitter } from 'node:events'
import type { ErrorClass } from '../model/engine.js'

/**
 * One connection of autocannon, with the parts of it that are taken over. Those with an underscore are its own affair and hold
 * for the version that is pinned in package.json.
 */
export interface AutocannonClient extends EventEmitter {
  /** Called when a connection begins and after every answer: the client has nothing under way. */
  _doRequest(): void
  _connect(): void
  _resetConnection(): void
  _destroyConnection(): void
  readonly conn?: unknown
  readonly parser: { reinitialize(kind: 'RESPONSE'): void }
  readonly pipelinedRequests: { clear(): void; addBody(chunk: unknown): void }
}

/** A request that is under way. */
export interface SentRequest {
  /** From when its latency counts. */
  readonly fromMono: number
  /** The plan wanted it before the measured time; without a plan the time of the answer decides. */
  readonly isEarly: boolean
}

/** Who decides when a connection asks, and hears what became of it. */
export interface ClientEvents {
  /** The connection has nothing under way. */
  free(client: PacedClient): void
  /** The connection cannot ask at present. */
  gone(client: PacedClient): void
  answered(sent: SentRequest, status: number): void
  failed(sent: SentRequest, kind: ErrorClass): void
}

/** Autocannon gives a request up after this time. */
export const TIMEOUT_MS = 10_000
/** A port where nobody listens is not asked in a busy loop. */
const REFUSED_PAUSE_MS = 10

/**
 * A connection of autocannon that sends when it is asked to. Autocannon's own rate sends the requests of a second in one
 * burst at its beginning and waits for the rest of it, which is an overload of short duration and no rate; and it neither
 * counts a request that a closed connection took along nor forgets its beginning, so that every later latency of that
 * connection is too long.
 */
export class PacedClient {
  readonly #client: AutocannonClient
  readonly #events: ClientEvents
  readonly #ask: () => void
  #underWay: SentRequest | null = null
  #sentMono = 0
  #isClosing = false
  #isRefused = false

  constructor(client: AutocannonClient, events: ClientEvents) {
    this.#client = client
    this.#events = events
    this.#ask = client._doRequest.bind(client)
    const connect = client._connect.bind(client)
    client._doRequest = () => this.#free()
    client._connect = () => this.#connect(connect)
    // The bodies of the answers are of no use, and joining them would be work that is not the server's.
    client.pipelinedRequests.addBody = () => {}
    client.on('response', (status: number) => this.#answered(status))
    client.on('connError', (error: NodeJS.ErrnoException) => this.#failed(error))
    client.on('headers', ({ shouldKeepAlive }: { readonly shouldKeepAlive: boolean }) => {
      this.#isClosing = !shouldKeepAlive
    })
  }

  /** Sends the request. */
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
      // A connection that ends and then fails makes autocannon connect twice, and both would ask.
      if (this.#client.conn !== undefined) this.#client._destroyConnection()
      // What an answer that was cut off left in the parser would be taken for the beginning of the next one.
      this.#client.parser.reinitialize('RESPONSE')
      connect()
    }
    if (this.#isRefused) setTimeout(begin, REFUSED_PAUSE_MS)
    else begin()
  }

  #answered(status: number): void {
    const sent = this.#underWay
    this.#underWay = null
    if (sent !== null) this.#events.answered(sent, status)
  }

  #failed(error: NodeJS.ErrnoException): void {
    const kind = classOf(error)
    this.#isRefused = kind === 'connect'
    this.#isClosing = false
    this.#events.gone(this)
    this.#drop(() => kind)
  }

  #drop(kind: () => ErrorClass): void {
    const sent = this.#underWay
    this.#underWay = null
    if (sent !== null) this.#events.failed(sent, kind())
  }
}

function classOf({ code, syscall }: NodeJS.ErrnoException): ErrorClass {
  if (syscall === 'connect' || syscall === 'getaddrinfo') return 'connect'
  if (code === 'ETIMEDOUT') return 'timeout'
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'reset' : 'other'
}
