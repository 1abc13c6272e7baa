import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import type { ErrorClass } from '../model/engine.js'
import { type ClientAnswer, ClientConnection, type ConnectionEvents } from './client-connection.js'
import { DueTimes } from './due-times.js'

/** What clients saw in one span of time. */
export interface Span {
  readonly requests: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

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
const US_PER_MS = 1000
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
  readonly #requests: readonly string[]
  readonly #idle = new Set<ClientConnection>()
  readonly #busy = new Set<ClientConnection>()
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
  /** In µs. Sorting a list of them would stop the load for seconds. */
  readonly #spanLatencies = createHistogram()
  readonly #windowLatencies = createHistogram()
  readonly #errors: Record<ErrorClass, number> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  readonly #answers: Record<string, number> = {}
  readonly #statuses: Record<string, number> = {}
  #wrongBodies = 0
  #unasked = 0
  #gatewayErrors = 0
  #upstreamErrors = 0
  #spanCounts = { requests: 0, failed: 0 }
  #windowCounts = { requests: 0, failed: 0 }
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
    const fields = agents.length === 0 ? [''] : agents.map((agent) => `User-Agent: ${agent}\r\n`)
    this.#requests = fields.map((field) => `GET / HTTP/1.1\r\nHost: bench\r\n${field}\r\n`)
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
    const window = spanOf(this.#windowCounts, this.#windowLatencies)
    if (window.requests > 0) this.#spanLatencies.add(this.#windowLatencies)
    this.#spanCounts.requests += window.requests
    this.#spanCounts.failed += window.failed
    this.#windowLatencies.reset()
    this.#windowCounts = { requests: 0, failed: 0 }
    return window
  }

  /** What was seen since the last call. */
  span(): Span {
    this.window()
    const span = spanOf(this.#spanCounts, this.#spanLatencies)
    this.#spanLatencies.reset()
    this.#spanCounts = { requests: 0, failed: 0 }
    return span
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
    for (const connection of this.#busy) if (connection.dueMono !== null) this.#lost('timeout')
    for (const connection of [...this.#idle, ...this.#busy]) connection.close()
  }

  /** The connection that has been idle longest is used first, so that a low rate lets none of them grow too old. */
  #drive(): void {
    for (const connection of this.#idle) {
      const againMono = this.#again.shift()
      const dueMono = againMono ?? this.#waiting.take()
      if (dueMono === null) return
      if (againMono !== undefined) this.#sentAgain++
      this.#idle.delete(connection)
      this.#busy.add(connection)
      const request = this.#requests[this.#sent++ % this.#requests.length]!
      connection.send(request, dueMono, againMono !== undefined)
    }
  }

  #connect(): ClientConnection {
    return new ClientConnection(this.#port, this.#events)
  }

  #closed(connection: ClientConnection): void {
    if (this.#isOver) return
    if (connection.dueMono !== null) this.#cutOff(connection, connection.dueMono)
    this.#idle.delete(connection)
    this.#busy.delete(connection)
    if (connection.isOpen) return void this.#connect()
    this.#errors.connect++
    this.#windowCounts.failed++
    setTimeout(() => {
      if (!this.#isOver) void this.#connect()
    }, AGAIN_MS)
  }

  #cutOff({ maySendAgain, hasCrossed }: ClientConnection, dueMono: number): void {
    if (this.#sendsAgain && maySendAgain) {
      if (hasCrossed) this.#crossed++
      this.#again.push(dueMono)
    } else this.#lost('reset')
  }

  #giveUp(): void {
    const oldestMono = performance.now() - PATIENCE_MS
    for (const connection of this.#busy) {
      if (connection.dueMono === null || connection.sentMono > oldestMono) continue
      this.#lost('timeout')
      connection.close()
    }
  }

  #lost(why: ErrorClass): void {
    this.#errors[why]++
    this.#windowCounts.failed++
  }

  #free(connection: ClientConnection): void {
    this.#busy.delete(connection)
    this.#idle.add(connection)
    this.#drive()
  }

  #answered({ dueMono }: ClientConnection, answer: ClientAnswer): void {
    this.#count(answer)
    const latencyMs = performance.now() - dueMono!
    this.#windowLatencies.record(Math.max(1, Math.round(latencyMs * US_PER_MS)))
  }

  #count({ status, head, body }: ClientAnswer): void {
    this.#windowCounts.requests++
    const kind = `${head[9]}xx`
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (status === 200) {
      if (this.#body !== null && body !== this.#body) this.#wrongBodies++
      return
    }
    this.#lost('status')
    if (kind !== '5xx') return
    if (/\r\nx-gw-error:/i.test(head)) this.#gatewayErrors++
    else this.#upstreamErrors++
  }
}

function spanOf(
  { requests, failed }: { readonly requests: number; readonly failed: number },
  latencies: RecordableHistogram,
): Span {
  return {
    requests,
    failed,
    p50Ms: latencies.percentile(50) / US_PER_MS,
    p99Ms: latencies.percentile(99) / US_PER_MS,
  }
}
