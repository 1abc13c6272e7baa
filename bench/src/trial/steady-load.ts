import type { ErrorClass } from '../model/engine.js'
import { type ClientAnswer, ClientConnection, type ConnectionEvents } from './client-connection.js'
import { DueTimes } from './due-times.js'
import { LoadSpans, type Span } from './load-spans.js'

/** What clients saw from the beginning. */
export interface LoadAccount {
  readonly errors: Readonly<Record<ErrorClass, number>>
  /** Answers by the first digit of their status, such as `2xx`. */
  readonly answers: Readonly<Record<string, number>>
  /** Of 500 and above: those that the gateway gave by itself, and all others. */
  readonly gatewayErrors: number
  readonly upstreamErrors: number
  /** Answers by their whole status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Answers of status 200 with another body than the one that is wished for. */
  readonly wrongBodies: number
  /** How often bytes came that no request had asked for. */
  readonly unasked: number
  /** Requests that were sent once more. */
  readonly sentAgain: number
  /** Of these, those that came to a connection which the server had closed before. */
  readonly crossed: number
}

/** What became of the requests for one path. */
export interface PathAccount {
  /** Requests that were answered, whatever the answer was. */
  answered: number
  /** Requests that ended without an answer, or were not sent. */
  unanswered: number
  /** Requests that ended without an answer on a connection that was open when they came, and were sent once more. */
  cutOff: number
}

/** How a load differs from the usual one. */
export interface LoadWish {
  /** What clients call themselves, in turn; absent: nothing. */
  readonly agents?: readonly string[]
  readonly connections?: number
  /** The most requests that wait for a free connection; beyond, they are not sent at all. */
  readonly waiting?: number
  /**
   * A request on a kept connection that ends without a byte of an answer is sent once more, as clients do: the server
   * may have closed the connection before it came (RFC 9110, 9.2.2). Absent: it has failed.
   */
  readonly sendsAgain?: boolean
  /** Of answers of status 200; absent: it is not looked at. */
  readonly body?: string
}

const CONNECTIONS = 64
const TICK_MS = 2
/** Beyond, the machine does not make the rate. */
const MAX_WAITING = 20_000
/** A client that has waited this long gives up. */
const PATIENCE_MS = 30_000
const LOOK_MS = 1000
/** A client that could not connect asks again. */
const AGAIN_MS = 100
const MAX_STOP_MS = 2 * PATIENCE_MS

/**
 * GET requests at a constant rate, whether or not answers come (an open loop): each is due at its time, and its latency
 * counts from then, so that a server that stops cannot hide what it made others wait (coordinated omission, Tene 2013).
 */
export class SteadyLoad {
  readonly #port: number
  readonly #perSecond: number
  readonly #connections: number
  readonly #fields: readonly string[]
  readonly #paths = new Map<string, PathAccount>()
  #requests: readonly string[] = []
  #path: PathAccount
  readonly #idle = new Set<ClientConnection>()
  /** With what the request under way is for. */
  readonly #busy = new Map<ClientConnection, PathAccount>()
  readonly #waiting: DueTimes
  readonly #sendsAgain: boolean
  readonly #body: string | null
  readonly #events: ConnectionEvents = {
    free: (connection) => this.#free(connection),
    answered: (connection, answer) => this.#answered(connection, answer),
    unasked: () => void this.#unasked++,
    left: (connection) => void this.#idle.delete(connection),
    closed: (connection) => this.#closed(connection),
  }
  /** When those were due that are to be sent once more; at most one of each connection. */
  readonly #again: number[] = []
  readonly #spans = new LoadSpans()
  readonly #errors: Record<ErrorClass, number> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  readonly #answers: Record<string, number> = {}
  readonly #statuses: Record<string, number> = {}
  #wrongBodies = 0
  #unasked = 0
  #gatewayErrors = 0
  #upstreamErrors = 0
  #timers: NodeJS.Timeout[] = []
  #sent = 0
  #sentAgain = 0
  #crossed = 0
  #isOver = false

  constructor(port: number, perSecond: number, wish: LoadWish = {}) {
    const {
      agents = [],
      connections = CONNECTIONS,
      waiting = MAX_WAITING,
      sendsAgain = false,
      body = null,
    } = wish
    this.#port = port
    this.#perSecond = perSecond
    this.#connections = connections
    this.#waiting = new DueTimes(waiting)
    this.#sendsAgain = sendsAgain
    this.#body = body
    this.#fields = agents.length === 0 ? [''] : agents.map((agent) => `User-Agent: ${agent}\r\n`)
    this.#path = this.askFor('/')
  }

  /** What is sent from now on asks for this path, which tells it from all else in a log. */
  askFor(path: string): PathAccount {
    this.#requests = this.#fields.map((field) => `GET ${path} HTTP/1.1\r\nHost: bench\r\n${field}\r\n`)
    this.#path = this.#paths.get(path) ?? { answered: 0, unanswered: 0, cutOff: 0 }
    this.#paths.set(path, this.#path)
    return this.#path
  }

  /** By path. */
  get paths(): ReadonlyMap<string, Readonly<PathAccount>> {
    return this.#paths
  }

  async start(): Promise<void> {
    for (let i = 0; i < this.#connections; i++) await this.#connect().ready
    const startMono = performance.now()
    let due = 0
    const tick = setInterval(() => {
      const nowMono = performance.now()
      const target = Math.floor(((nowMono - startMono) * this.#perSecond) / 1000)
      for (; due < target; due++) {
        if (!this.#waiting.add(startMono + (due * 1000) / this.#perSecond)) this.#lost('other')
      }
      this.#drive()
    }, TICK_MS)
    this.#timers = [tick, setInterval(() => this.#giveUp(), LOOK_MS)]
  }

  /** All requests so far, those that failed included. */
  get total(): number {
    return this.#sent - this.#sentAgain
  }

  get account(): LoadAccount {
    return {
      errors: { ...this.#errors },
      answers: { ...this.#answers },
      gatewayErrors: this.#gatewayErrors,
      upstreamErrors: this.#upstreamErrors,
      statuses: { ...this.#statuses },
      wrongBodies: this.#wrongBodies,
      unasked: this.#unasked,
      sentAgain: this.#sentAgain,
      crossed: this.#crossed,
    }
  }

  /** What was seen since the last call of this or `span`: a part of the span. */
  window(): Span {
    return this.#spans.window()
  }

  /** What was seen since the last call. */
  span(): Span {
    return this.#spans.span()
  }

  /** Sends no more; resolves when the last answer has come, or nobody waits for it any longer. */
  async stop(): Promise<void> {
    const [tick, look] = this.#timers
    clearInterval(tick)
    const giveUpMono = performance.now() + MAX_STOP_MS
    while (
      (this.#waiting.length + this.#again.length > 0 || this.#idle.size < this.#connections) &&
      performance.now() < giveUpMono
    ) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    clearInterval(look)
    while (this.#waiting.take() !== null) this.#lost('other')
    while (this.#again.pop() !== undefined) this.#lost('reset')
    this.#isOver = true
    for (const [{ dueMono }, path] of this.#busy) if (dueMono !== null) this.#lost('timeout', path)
    for (const connection of [...this.#idle, ...this.#busy.keys()]) connection.close()
  }

  /** The connection that has been idle longest is used first, so that a low rate lets none of them grow too old. */
  #drive(): void {
    for (const connection of this.#idle) {
      const againMono = this.#again.shift()
      const dueMono = againMono ?? this.#waiting.take()
      if (dueMono === null) return
      if (againMono !== undefined) this.#sentAgain++
      this.#idle.delete(connection)
      this.#busy.set(connection, this.#path)
      const request = this.#requests[this.#sent++ % this.#requests.length]!
      connection.send(request, dueMono, againMono !== undefined)
    }
  }

  #connect(): ClientConnection {
    return new ClientConnection(this.#port, this.#events)
  }

  #closed(connection: ClientConnection): void {
    if (this.#isOver) return
    const path = this.#busy.get(connection)
    if (connection.dueMono !== null && path !== undefined) this.#cutOff(connection, connection.dueMono, path)
    this.#idle.delete(connection)
    this.#busy.delete(connection)
    if (connection.isOpen) return void this.#connect()
    this.#lost('connect')
    setTimeout(() => {
      if (!this.#isOver) void this.#connect()
    }, AGAIN_MS)
  }

  #cutOff({ maySendAgain, hasCrossed }: ClientConnection, dueMono: number, path: PathAccount): void {
    if (this.#sendsAgain && maySendAgain) {
      if (hasCrossed) this.#crossed++
      else path.cutOff++
      this.#again.push(dueMono)
    } else this.#lost('reset', path)
  }

  #giveUp(): void {
    const oldestMono = performance.now() - PATIENCE_MS
    for (const [connection, path] of this.#busy) {
      if (connection.dueMono === null || connection.sentMono > oldestMono) continue
      this.#lost('timeout', path)
      connection.close()
    }
  }

  #lost(why: Exclude<ErrorClass, 'status'>, path = this.#path): void {
    this.#errors[why]++
    this.#spans.failed()
    path.unanswered++
  }

  #free(connection: ClientConnection): void {
    this.#busy.delete(connection)
    this.#idle.add(connection)
    this.#drive()
  }

  #answered(connection: ClientConnection, answer: ClientAnswer): void {
    this.#count(answer)
    const path = this.#busy.get(connection)
    if (path !== undefined) path.answered++
    this.#spans.answered(performance.now() - connection.dueMono!)
  }

  #count({ status, head, body }: ClientAnswer): void {
    const kind = `${head[9]}xx`
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (status === 200) {
      if (this.#body !== null && body !== this.#body) this.#wrongBodies++
      return
    }
    this.#errors.status++
    this.#spans.failed()
    if (kind !== '5xx') return
    if (/\r\nx-gw-error:/i.test(head)) this.#gatewayErrors++
    else this.#upstreamErrors++
  }
}
