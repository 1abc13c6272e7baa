import net from 'node:net'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import type { ErrorClass } from '../model/engine.js'
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
  /** Requests that were sent once more. */
  readonly sentAgain: number
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
}

/** A connection and the request under way on it. */
interface Connection {
  readonly socket: net.Socket
  /** When the request was due; null: none is under way. */
  dueMono: number | null
  sentMono: number
  isOpen: boolean
  /** Whether bytes of an answer to it have come. */
  hasBegun: boolean
  /** Whether an answer has come over it. */
  isKept: boolean
  /** Whether the request under way was sent before, over another one. */
  isAgain: boolean
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
  readonly #idle = new Set<Connection>()
  readonly #busy = new Set<Connection>()
  readonly #waiting: DueTimes
  readonly #sendsAgain: boolean
  /** When those were due that are to be sent once more; at most one of each connection. */
  readonly #again: number[] = []
  /** In µs. Sorting a list of them would stop the load for seconds. */
  readonly #spanLatencies = createHistogram()
  readonly #windowLatencies = createHistogram()
  readonly #errors: Record<ErrorClass, number> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  readonly #answers: Record<string, number> = {}
  #gatewayErrors = 0
  #upstreamErrors = 0
  #spanCounts = { requests: 0, failed: 0 }
  #windowCounts = { requests: 0, failed: 0 }
  #timers: NodeJS.Timeout[] = []
  #sent = 0
  #sentAgain = 0
  #isOver = false

  constructor(port: number, perSecond: number, wish: LoadWish = {}) {
    const { agents = [], connections = CONNECTIONS, waiting = MAX_WAITING, sendsAgain = false } = wish
    this.#port = port
    this.#perSecond = perSecond
    this.#connections = connections
    this.#waiting = new DueTimes(waiting)
    this.#sendsAgain = sendsAgain
    const fields = agents.length === 0 ? [''] : agents.map((agent) => `User-Agent: ${agent}\r\n`)
    this.#requests = fields.map((field) => `GET / HTTP/1.1\r\nHost: bench\r\n${field}\r\n`)
  }

  async start(): Promise<void> {
    for (let i = 0; i < this.#connections; i++) await this.#connect()
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
      sentAgain: this.#sentAgain,
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
    this.#isOver = true
    for (const { socket } of [...this.#idle, ...this.#busy]) socket.destroy()
  }

  /** The connection that has been idle longest is used first, so that a low rate lets none of them grow too old. */
  #drive(): void {
    for (const connection of this.#idle) {
      const againMono = this.#again.shift()
      const dueMono = againMono ?? this.#waiting.take()
      if (dueMono === null) return
      connection.isAgain = againMono !== undefined
      if (connection.isAgain) this.#sentAgain++
      this.#idle.delete(connection)
      this.#busy.add(connection)
      connection.dueMono = dueMono
      connection.sentMono = performance.now()
      connection.socket.write(this.#requests[this.#sent++ % this.#requests.length]!)
    }
  }

  #connect(): Promise<void> {
    const socket = net.connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    const connection: Connection = {
      socket,
      dueMono: null,
      sentMono: 0,
      isOpen: false,
      hasBegun: false,
      isKept: false,
      isAgain: false,
    }
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      connection.hasBegun = true
      const head = text.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
      if (text.length < head + 4 + length) return
      const answer = text.slice(0, head + 2)
      text = ''
      this.#answered(connection, answer)
    })
    socket.on('error', () => {})
    socket.on('close', () => this.#closed(connection))
    return new Promise((resolve) => {
      socket.once('close', () => resolve())
      socket.once('connect', () => {
        connection.isOpen = true
        this.#idle.add(connection)
        resolve()
      })
    })
  }

  #closed(connection: Connection): void {
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

  #cutOff({ isKept, isAgain, hasBegun }: Connection, dueMono: number): void {
    if (this.#sendsAgain && isKept && !isAgain && !hasBegun) this.#again.push(dueMono)
    else this.#lost('reset')
  }

  #giveUp(): void {
    const oldestMono = performance.now() - PATIENCE_MS
    for (const connection of this.#busy) {
      if (connection.dueMono === null || connection.sentMono > oldestMono) continue
      connection.dueMono = null
      this.#lost('timeout')
      connection.socket.destroy()
    }
  }

  #lost(why: ErrorClass): void {
    this.#errors[why]++
    this.#windowCounts.failed++
  }

  #answered(connection: Connection, head: string): void {
    this.#count(head)
    if (connection.dueMono !== null) {
      const latencyMs = performance.now() - connection.dueMono
      this.#windowLatencies.record(Math.max(1, Math.round(latencyMs * US_PER_MS)))
    }
    connection.dueMono = null
    connection.isKept = true
    connection.hasBegun = false
    this.#busy.delete(connection)
    // It was the last answer on it, so that another request would meet a server that has left.
    if (/\r\nconnection: *close\r\n/i.test(head)) connection.socket.destroy()
    else this.#idle.add(connection)
    this.#drive()
  }

  #count(head: string): void {
    this.#windowCounts.requests++
    const kind = `${head[9]}xx`
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1
    if (head.startsWith('HTTP/1.1 200 ')) return
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
