import net from 'node:net'
import { createHistogram } from 'node:perf_hooks'
import { DueTimes } from './due-times.js'

/** What clients saw in one span of time. */
export interface Span {
  readonly requests: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** A connection and the request under way on it. */
interface Connection {
  readonly socket: net.Socket
  /** When the request was due; null: none is under way. */
  dueMono: number | null
}

const CONNECTIONS = 64
const TICK_MS = 2
/** Requests that wait for a free connection; beyond, the machine does not make the rate. */
const MAX_WAITING = 20_000
const US_PER_MS = 1000

/**
 * GET requests at a constant rate, whether or not answers come (an open loop): each is due at its time, and its latency
 * counts from then, so that a server that stops cannot hide what it made others wait (coordinated omission, Tene 2013).
 */
export class SteadyLoad {
  readonly #port: number
  readonly #perSecond: number
  readonly #requests: readonly string[]
  readonly #idle = new Set<Connection>()
  readonly #waiting = new DueTimes(MAX_WAITING)
  /** In µs. Sorting a list of them would stop the load for seconds. */
  readonly #latencies = createHistogram()
  #answers = 0
  #failed = 0
  #timer: NodeJS.Timeout | undefined
  #sent = 0
  #isOver = false

  /** @param agents what clients call themselves, in turn; none: nothing. */
  constructor(port: number, perSecond: number, agents: readonly string[] = []) {
    this.#port = port
    this.#perSecond = perSecond
    const fields = agents.length === 0 ? [''] : agents.map((agent) => `User-Agent: ${agent}\r\n`)
    this.#requests = fields.map((field) => `GET / HTTP/1.1\r\nHost: bench\r\n${field}\r\n`)
  }

  async start(): Promise<void> {
    for (let i = 0; i < CONNECTIONS; i++) await this.#connect()
    const startMono = performance.now()
    let due = 0
    this.#timer = setInterval(() => {
      const nowMono = performance.now()
      const target = Math.floor(((nowMono - startMono) * this.#perSecond) / 1000)
      for (; due < target; due++) {
        if (!this.#waiting.add(startMono + (due * 1000) / this.#perSecond)) this.#failed++
      }
      this.#drive()
    }, TICK_MS)
  }

  /** All requests so far, those that failed included. */
  get total(): number {
    return this.#sent
  }

  /** What was seen since the last call. */
  span(): Span {
    const span = {
      requests: this.#answers,
      failed: this.#failed,
      p50Ms: this.#latencies.percentile(50) / US_PER_MS,
      p99Ms: this.#latencies.percentile(99) / US_PER_MS,
    }
    this.#latencies.reset()
    this.#answers = 0
    this.#failed = 0
    return span
  }

  /** Sends no more; resolves when the last answer has come. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    while (this.#waiting.length > 0 || this.#idle.size < CONNECTIONS) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    this.#isOver = true
    for (const { socket } of this.#idle) socket.destroy()
  }

  /** The connection that has been idle longest is used first, so that a low rate lets none of them grow too old. */
  #drive(): void {
    for (const connection of this.#idle) {
      const dueMono = this.#waiting.take()
      if (dueMono === null) return
      this.#idle.delete(connection)
      connection.dueMono = dueMono
      connection.socket.write(this.#requests[this.#sent++ % this.#requests.length]!)
    }
  }

  #connect(): Promise<void> {
    const socket = net.connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    const connection: Connection = { socket, dueMono: null }
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      const head = text.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
      if (text.length < head + 4 + length) return
      const isGood = text.startsWith('HTTP/1.1 200 ')
      text = ''
      this.#answered(connection, isGood)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#isOver) return
      if (connection.dueMono !== null) this.#failed++
      this.#idle.delete(connection)
      void this.#connect()
    })
    return new Promise((resolve) => {
      socket.once('connect', () => {
        this.#idle.add(connection)
        resolve()
      })
    })
  }

  #answered(connection: Connection, isGood: boolean): void {
    this.#answers++
    if (!isGood) this.#failed++
    if (connection.dueMono !== null) {
      const latencyMs = performance.now() - connection.dueMono
      this.#latencies.record(Math.max(1, Math.round(latencyMs * US_PER_MS)))
    }
    connection.dueMono = null
    this.#idle.add(connection)
    this.#drive()
  }
}
