import { createHistogram } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Trial } from '../model/trial.js'
import { type ClientAnswer, ClientConnection, type ConnectionEvents } from './client-connection.js'

type Account = Pick<Trial, 'requests' | 'sentAgain' | 'lost' | 'statuses' | 'wrongBodies'> &
  Pick<Trial, 'unasked' | 'gatewayErrors' | 'upstreamErrors'>

/** Client results for a period. A response other than 200 counts as answered and as failed. */
export interface Span {
  readonly answered: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface ConstantRateOptions {
  readonly connections: number
  /** Maximum number of requests that wait for a connection. Further ones are not sent. */
  readonly mostWaiting: number
  /** Expected body of responses with status 200. */
  readonly body: string
  /** Maximum idle time of a connection before it is replaced, in milliseconds. Default: 4 s. */
  readonly mostIdleMs?: number
}

const TICK_MS = 2
/** Time after which a client gives up, in milliseconds. */
const PATIENCE_MS = 30_000
const LOOK_MS = 1000
/** Delay before a client connects again, in milliseconds. */
const AGAIN_MS = 100
/**
 * Half of the gateway's idle timeout (8 to 12 s). A request that crosses the end of a connection would be lost by
 * nobody's fault, and at a low rate every request would hit it.
 */
const MOST_IDLE_MS = 4000
const REQUEST = 'GET / HTTP/1.1\r\nHost: bench\r\n\r\n'

/**
 * GET requests at a constant rate, independent of responses (an open loop). Latency counts from the planned time, so
 * a server that stops cannot hide the delay (coordinated omission, Tene 2013). A request on a kept-alive connection
 * that closes without a response byte is sent once more, as clients do (RFC 9110, 9.2.2). If the first one was
 * served, the origin counts it twice.
 */
export class ConstantRateLoad {
  readonly #port: number
  readonly #perSecond: number
  readonly #options: ConstantRateOptions
  readonly #mostIdleMs: number
  readonly #idle = new Set<ClientConnection>()
  readonly #busy = new Set<ClientConnection>()
  readonly #events: ConnectionEvents = {
    free: (connection) => this.#free(connection),
    answered: (connection, answer) => this.#answered(connection, answer),
    unasked: () => void this.#account.unasked++,
    left: (connection) => void this.#idle.delete(connection),
    closed: (connection) => this.#closed(connection),
  }
  /** Planned times of requests to send again, at most one per connection. */
  readonly #again: number[] = []
  readonly #account = {
    ...{ sentAgain: 0, wrongBodies: 0, unasked: 0, gatewayErrors: 0, upstreamErrors: 0 },
    lost: { connect: 0, reset: 0, timeout: 0, unsent: 0 },
    statuses: {} as Record<string, number>,
  }
  readonly #span = new LatencySpan()
  #timers: NodeJS.Timeout[] = []
  #startMono = 0
  /** Number of requests that are due so far, and of those taken or abandoned. */
  #due = 0
  #taken = 0
  #sent = 0
  #isOver = false

  constructor(port: number, perSecond: number, options: ConstantRateOptions) {
    this.#port = port
    this.#perSecond = perSecond
    this.#options = options
    this.#mostIdleMs = options.mostIdleMs ?? MOST_IDLE_MS
  }

  async start(): Promise<void> {
    for (let i = 0; i < this.#options.connections; i++) await this.#connect().ready
    this.#startMono = performance.now()
    const timers = [setInterval(() => this.#tick(), TICK_MS), setInterval(() => this.#giveUp(), LOOK_MS)]
    // Timers must not keep the process alive.
    this.#timers = timers.map((timer) => timer.unref())
  }

  /** Totals so far. */
  get account(): Account {
    const { lost, statuses } = this.#account
    const requests = this.#sent - this.#account.sentAgain
    return { ...this.#account, requests, lost: { ...lost }, statuses: { ...statuses } }
  }

  /** Returns the results since the last call. */
  span(): Span {
    return this.#span.take()
  }

  /** Stops sending. Resolves when no response is outstanding. */
  async stop(): Promise<void> {
    const [tick, look] = this.#timers
    clearInterval(tick)
    const giveUpMono = performance.now() + 2 * PATIENCE_MS
    while (
      (this.#taken < this.#due || this.#again.length > 0 || this.#idle.size < this.#options.connections) &&
      performance.now() < giveUpMono
    )
      await sleep(10)
    clearInterval(look)
    for (; this.#taken < this.#due; this.#taken++) this.#lost('unsent')
    while (this.#again.pop() !== undefined) this.#lost('reset')
    this.#isOver = true
    for (const { dueMono } of this.#busy) if (dueMono !== null) this.#lost('timeout')
    for (const connection of [...this.#idle, ...this.#busy]) connection.close()
  }

  #tick(): void {
    this.#due = Math.floor(((performance.now() - this.#startMono) * this.#perSecond) / 1000)
    for (; this.#due - this.#taken > this.#options.mostWaiting; this.#taken++) this.#lost('unsent')
    this.#drive()
  }

  /** Uses the connection with the longest idle time first, so that none becomes too old at a low rate. */
  #drive(): void {
    const idleSinceMono = performance.now() - this.#mostIdleMs
    for (const connection of this.#idle) {
      if (this.#again.length === 0 && this.#taken >= this.#due) return
      this.#idle.delete(connection)
      if (connection.lastMono < idleSinceMono) {
        // A replacement opens when this one has closed.
        connection.close()
        continue
      }
      const againMono = this.#again.shift()
      const dueMono = againMono ?? this.#startMono + (this.#taken++ * 1000) / this.#perSecond
      if (againMono !== undefined) this.#account.sentAgain++
      this.#sent++
      this.#busy.add(connection)
      connection.send(REQUEST, dueMono, againMono !== undefined)
    }
  }

  #connect(): ClientConnection {
    return new ClientConnection(this.#port, this.#events)
  }

  #closed(connection: ClientConnection): void {
    if (this.#isOver) return
    const { dueMono, maySendAgain, isOpen } = connection
    if (dueMono !== null && this.#busy.has(connection)) {
      if (maySendAgain) this.#again.push(dueMono)
      else this.#lost('reset')
    }
    this.#idle.delete(connection)
    this.#busy.delete(connection)
    if (isOpen) return void this.#connect()
    this.#lost('connect')
    const again = (): void => {
      if (!this.#isOver) void this.#connect()
    }
    setTimeout(again, AGAIN_MS).unref()
  }

  #giveUp(): void {
    const oldestMono = performance.now() - PATIENCE_MS
    for (const connection of this.#busy) {
      if (connection.dueMono === null || connection.lastMono > oldestMono) continue
      this.#lost('timeout')
      connection.close()
    }
  }

  #lost(why: keyof Trial['lost']): void {
    this.#account.lost[why]++
    this.#span.failed++
  }

  #free(connection: ClientConnection): void {
    this.#busy.delete(connection)
    this.#idle.add(connection)
    this.#drive()
  }

  #answered({ dueMono }: ClientConnection, { status, head, body }: ClientAnswer): void {
    const account = this.#account
    const latencyMs = performance.now() - dueMono!
    this.#span.record(latencyMs)
    account.statuses[status] = (account.statuses[status] ?? 0) + 1
    if (status === 200) {
      if (body !== this.#options.body) account.wrongBodies++
      return
    }
    this.#span.failed++
    if (status < 500) return
    if (/\r\nx-gw-error:/i.test(head)) account.gatewayErrors++
    else account.upstreamErrors++
  }
}

/** A histogram: sorting a list of latencies would stop the load for seconds. */
class LatencySpan {
  failed = 0
  readonly #micros = createHistogram()

  record(latencyMs: number): void {
    this.#micros.record(Math.max(1, Math.round(latencyMs * 1000)))
  }

  /** Returns the values since the last call. */
  take(): Span {
    const { failed } = this
    const answered = this.#micros.count
    const [p50Ms, p99Ms] = [50, 99].map((percentile) => this.#micros.percentile(percentile) / 1000)
    this.failed = 0
    this.#micros.reset()
    return { answered, failed, p50Ms: p50Ms!, p99Ms: p99Ms! }
  }
}
