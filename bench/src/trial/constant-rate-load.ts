import { createHistogram } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Trial } from '../model/trial.js'
import { type ClientAnswer, ClientConnection, type ConnectionEvents } from './client-connection.js'

type Account = Pick<Trial, 'requests' | 'sentAgain' | 'lost' | 'statuses' | 'wrongBodies'> &
  Pick<Trial, 'unasked' | 'gatewayErrors' | 'upstreamErrors'>

/** What clients saw in a span of time; an answer other than 200 counts as answered and as failed. */
export interface Span {
  readonly answered: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface ConstantRateOptions {
  readonly connections: number
  /** The most requests that wait for a free connection; beyond, they are not sent at all. */
  readonly mostWaiting: number
  /** Of answers of status 200. */
  readonly body: string
  /** A connection that was last asked longer ago is replaced, not asked; default: 4 s. */
  readonly mostIdleMs?: number
}

const TICK_MS = 2
/** A client that has waited this long gives up. */
const PATIENCE_MS = 30_000
const LOOK_MS = 1000
/** A client that could not connect asks again. */
const AGAIN_MS = 100
/**
 * Half of what the gateway keeps an idle connection for (8 to 12 s): a request that crosses its end is lost by nobody's
 * fault, and as the one that has been idle longest is used first, at a low rate each request would meet it.
 */
const MOST_IDLE_MS = 4000
const REQUEST = 'GET / HTTP/1.1\r\nHost: bench\r\n\r\n'

/**
 * GET requests at a constant rate, whether or not answers come (an open loop): each is due at its time, and its latency
 * counts from then, so that a server that stops cannot hide what it made others wait (coordinated omission, Tene 2013).
 * A request on a kept connection that ends without a byte of an answer is sent once more, as clients do (RFC 9110, 9.2.2);
 * if the first one had been served, the origin counts it twice.
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
  /** When those were due that are to be sent once more; at most one of each connection. */
  readonly #again: number[] = []
  readonly #account = {
    ...{ sentAgain: 0, wrongBodies: 0, unasked: 0, gatewayErrors: 0, upstreamErrors: 0 },
    lost: { connect: 0, reset: 0, timeout: 0, unsent: 0 },
    statuses: {} as Record<string, number>,
  }
  readonly #span = new LatencySpan()
  #timers: NodeJS.Timeout[] = []
  #startMono = 0
  /** Requests that are due so far, and those of them that have been taken or given up. */
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
    // Nothing of a load that nobody stops keeps the process.
    this.#timers = timers.map((timer) => timer.unref())
  }

  /** What was seen so far. */
  get account(): Account {
    const { lost, statuses } = this.#account
    const requests = this.#sent - this.#account.sentAgain
    return { ...this.#account, requests, lost: { ...lost }, statuses: { ...statuses } }
  }

  /** What was seen since the last call of this. */
  span(): Span {
    return this.#span.take()
  }

  /** Sends no more; resolves when the last answer has come, or nobody waits for it any longer. */
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

  /** The connection that has been idle longest is used first, so that a low rate lets none of them grow too old. */
  #drive(): void {
    const idleSinceMono = performance.now() - this.#mostIdleMs
    for (const connection of this.#idle) {
      if (this.#again.length === 0 && this.#taken >= this.#due) return
      this.#idle.delete(connection)
      if (connection.lastMono < idleSinceMono) {
        // Another one is made when it has closed.
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

/** Sorting a list of latencies would stop the load for seconds. */
class LatencySpan {
  failed = 0
  readonly #micros = createHistogram()

  record(latencyMs: number): void {
    this.#micros.record(Math.max(1, Math.round(latencyMs * 1000)))
  }

  /** What was recorded since the last call. */
  take(): Span {
    const { failed } = this
    const answered = this.#micros.count
    const [p50Ms, p99Ms] = [50, 99].map((percentile) => this.#micros.percentile(percentile) / 1000)
    this.failed = 0
    this.#micros.reset()
    return { answered, failed, p50Ms: p50Ms!, p99Ms: p99Ms! }
  }
}
