import { messageOf, StateUnavailable } from '@sluice/core'
import { type Argument, type ServerPlan, ValkeyConnection } from './connection.js'
import { LatencyMeter } from './latency-meter.js'

/** Number of calls by result. */
export interface ValkeyCounts {
  answered: number
  failed: number
  late: number
  /** Calls not sent, because the server is unavailable or too many are waiting. */
  refused: number
  /** Total duration of answered calls in milliseconds. */
  sumMs: number
}

/** Unanswered calls and their memory, for all servers of a store together. */
export interface CallBudget {
  calls: number
  bytes: number
}

/** Options of a server; servers of one store share the budget and counts. */
export interface ServerOptions {
  readonly plan: ServerPlan
  readonly timeoutMs: number
  /** Average latency in milliseconds above which the server counts as slow; absent to disable this. */
  readonly slowAfterMs?: number | undefined
  readonly budget: CallBudget
  readonly counts: ValkeyCounts
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
  /** Called with null when the server becomes usable, or with the reason when it is not. */
  readonly onChange?: (problem: string | null) => void
}

interface CallOptions {
  /** Size of the value among the arguments, in bytes. */
  readonly valueBytes?: number
  /** Start of the call on the monotonic clock; defaults to now. */
  readonly startedMono?: number
  /** True if the slot is being moved from another node to this one. */
  readonly isAsking?: boolean
  /** True to skip the server while it is slow. */
  readonly skipIfSlow?: boolean
}

/** Options of a call to the server that has the key. */
export type SendOptions = Pick<CallOptions, 'valueBytes' | 'skipIfSlow'>

/** The servers of a store: one, or the primaries of a cluster. */
export interface ValkeyServers {
  /**
   * Resolves when all are connected, cannot be, or after a timeout. A worker that serves without them counts
   * locally, or refuses.
   */
  readonly opened: Promise<void>
  /** Reason why not all of them are usable, or null. */
  readonly problem: string | null
  /** True while one of them answers slowly. */
  readonly isSlow: boolean
  /** Sends a command to the server that has the key. Rejects with StateUnavailable. */
  send(key: Argument, args: readonly Argument[], options?: SendOptions): Promise<unknown>
  /** Returns the servers that together have all keys. @throws StateUnavailable */
  all(): readonly Pick<ValkeyServer, 'ask'>[]
  close(): void
}

/** Error answer of a server. */
export class ServerRefused extends StateUnavailable {
  /** Error text of the server, truncated. */
  readonly words: string

  constructor(words: string) {
    super(`the server refused: ${words}`)
    this.words = words
  }
}

const MAX_CALLS = 10_000
const MAX_BYTES = 8 * 1024 ** 2
/** Longest wait for the first connection before a worker becomes ready, in milliseconds. */
const OPENED_WITHIN_MS = 2000
/** Time in milliseconds after a call's deadline without an answer until the connection is replaced. */
const HUNG_MS = 1000
/** Interval between probes of a slow server, in milliseconds. */
const PROBE_MS = 250

interface Waiting {
  readonly startedMono: number
  readonly bytes: number
  readonly reject: (error: StateUnavailable) => void
  isLate: boolean
}

/** A server with a single connection. Every call has a deadline. While a call is overdue, no others are sent. */
export class ValkeyServer implements ValkeyServers {
  readonly opened: Promise<void>
  /** Host and port as in its URL. */
  readonly address: string
  readonly #options: ServerOptions
  readonly #connection: ValkeyConnection
  /** Calls in the order in which they were sent and are answered. */
  readonly #waiting = new Set<Waiting>()
  readonly #latency: LatencyMeter
  #clock: NodeJS.Timeout | null = null
  /** Probe timer while the server is slow. */
  #probe: NodeJS.Timeout | null = null
  #reported: string | null = 'nothing yet'
  #isClosed = false

  constructor(options: ServerOptions) {
    this.#options = options
    this.address = new URL(options.plan.url).host
    this.#latency = new LatencyMeter(options.slowAfterMs ?? Number.POSITIVE_INFINITY)
    let resolve = (): void => {}
    this.opened = new Promise((done) => {
      resolve = done
    })
    setTimeout(resolve, OPENED_WITHIN_MS).unref()
    const onChange = (): void => {
      resolve()
      this.#reportChange()
    }
    this.#connection = new ValkeyConnection({ plan: options.plan, onChange })
  }

  get problem(): string | null {
    return this.#connection.problem ?? this.#lateProblem()
  }

  get isSlow(): boolean {
    return this.#latency.isSlow
  }

  send(_key: Argument, args: readonly Argument[], options?: SendOptions): Promise<unknown> {
    return this.ask(args, options)
  }

  all(): readonly ValkeyServer[] {
    return [this]
  }

  /** Sends a command. Rejects with StateUnavailable, or with ServerRefused for an error answer. */
  ask(args: readonly Argument[], options: CallOptions = {}): Promise<unknown> {
    const bytes = (options.valueBytes ?? 0) + 200
    const problem = this.problem ?? this.#fullProblem(bytes) ?? this.#slowProblem(options)
    if (problem !== null) {
      this.#options.counts.refused++
      return Promise.reject(new StateUnavailable(`the server ${problem}`))
    }
    return new Promise((resolve, reject) => {
      const { startedMono = performance.now() } = options
      const waiting: Waiting = { startedMono, bytes, reject, isLate: false }
      this.#waiting.add(waiting)
      this.#hold(1, bytes)
      this.#clock ??= this.#startClock()
      // Both are sent together.
      if (options.isAsking === true) this.#connection.send(['ASKING']).catch(() => {})
      this.#connection.send(args).then(
        (answer) => {
          this.#settle(waiting, 'answered')
          resolve(answer)
        },
        (error: unknown) => {
          this.#settle(waiting, 'failed')
          // Another server is the primary now, perhaps behind the same name.
          if (shortMessage(error).startsWith('READONLY')) this.#connection.drop('is a read-only replica')
          reject(new ServerRefused(shortMessage(error)))
        },
      )
    })
  }

  close(): void {
    if (this.#clock !== null) clearTimeout(this.#clock)
    if (this.#probe !== null) clearInterval(this.#probe)
    this.#isClosed = true
    this.#connection.close()
    for (const waiting of this.#waiting) waiting.reject(new StateUnavailable('the store is closed'))
  }

  #settle(waiting: Waiting, outcome: 'answered' | 'failed'): void {
    this.#waiting.delete(waiting)
    this.#hold(-1, -waiting.bytes)
    // Calls that failed with a lost connection say nothing about the latency.
    if (this.#connection.problem === null && this.#latency.add(waiting.startedMono, performance.now()))
      this.#reportLatency()
    if (waiting.isLate) {
      this.#reportChange()
      return
    }
    const { counts } = this.#options
    counts[outcome]++
    if (outcome === 'answered') counts.sumMs += performance.now() - waiting.startedMono
  }

  #hold(calls: number, bytes: number): void {
    const { budget } = this.#options
    budget.calls += calls
    budget.bytes += bytes
  }

  #fullProblem(bytes: number): string | null {
    const { budget } = this.#options
    const isFull = budget.calls >= MAX_CALLS || budget.bytes + bytes > MAX_BYTES
    return isFull ? 'has too many unanswered calls' : null
  }

  #slowProblem({ skipIfSlow = false }: CallOptions): string | null {
    return skipIfSlow && this.isSlow
      ? `is slow: its average response time exceeds ${this.#options.slowAfterMs} ms`
      : null
  }

  #reportLatency(): void {
    const { isSlow, averageMs } = this.#latency
    if (this.#isClosed) return
    const fields = { server: this.address, latencyMs: Math.round(averageMs) }
    this.#options.report(isSlow ? 'state_slow' : 'state_fast_again', fields)
    if (this.#probe !== null) clearInterval(this.#probe)
    const probe = (): void => void this.ask(['PING']).catch(() => {})
    this.#probe = isSlow ? setInterval(probe, PROBE_MS).unref() : null
  }

  /**
   * Returns a problem while the oldest call is late: answers come in order, so a new call would be late too.
   */
  #lateProblem(): string | null {
    const [oldest] = this.#waiting
    return oldest?.isLate === true ? `did not answer within ${this.#options.timeoutMs} ms` : null
  }

  /**
   * Starts one coarse timer for all calls. It runs after messages that arrived while this process was busy.
   */
  #startClock(): NodeJS.Timeout {
    const dueMono = performance.now() + this.#options.timeoutMs / 4
    const isLate = (): boolean => performance.now() - dueMono > (this.#options.slowAfterMs ?? 0) / 4
    return setTimeout(() => {
      if (isLate()) this.#latency.forgive()
      setImmediate(() => this.#onClock())
    }, this.#options.timeoutMs / 4)
  }

  #onClock(): void {
    const { timeoutMs, counts } = this.#options
    const lateMono = performance.now() - timeoutMs
    for (const waiting of this.#waiting) {
      if (waiting.startedMono > lateMono || waiting.isLate) continue
      waiting.isLate = true
      counts.late++
      waiting.reject(new StateUnavailable(`the server did not answer within ${timeoutMs} ms`))
    }
    this.#reportChange()
    const [oldest] = this.#waiting
    if (oldest !== undefined && oldest.startedMono < lateMono - HUNG_MS) this.#connection.drop('hangs')
    this.#clock = this.#waiting.size > 0 ? this.#startClock() : null
  }

  #reportChange(): void {
    const { problem } = this
    if (this.#isClosed) return
    if ((problem === null) === (this.#reported === null) && this.#reported !== 'nothing yet') return
    this.#reported = problem
    const server = this.address
    if (problem === null) this.#options.report('state_available', { server })
    else this.#options.report('state_unavailable', { server, problem })
    this.#options.onChange?.(problem)
  }
}

/** Returns the error message, truncated because it comes from outside and is logged. */
function shortMessage(error: unknown): string {
  return messageOf(error).slice(0, 200)
}
