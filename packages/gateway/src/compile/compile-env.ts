import { compileExpression } from '@sluice/config/serving'
import {
  type BodyLanguages,
  type CacheStore,
  type Catalog,
  type CompileEnv,
  type Counter,
  type ErrorCode,
  type Exchange,
  type Expression,
  type HttpClient,
  type HttpClientOptions,
  type Offload,
  type Reply,
  refusal,
  type Slot,
  type StateStores,
} from '@sluice/core'
import type { Route } from '../flow/route.js'
import type { Closer, SharedTable } from '../lib/shared-table.js'
import type { ThreadPool } from '../lib/threads/thread-pool.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createHttpClient } from '../upstream/outbound/http-clients.js'
import type { Network } from '../upstream/transport/network.js'

/** Maximum number of periodic jobs per snapshot. */
const MAX_JOBS = 1000
/** Longest timer interval in milliseconds. A longer one would fire every millisecond. */
const MAX_INTERVAL_MS = 2 ** 31 - 1

/**
 * A value per exchange, found by the identity of its slot. Exchanges have two or three, so a linear scan is
 * cheapest.
 */
class ListSlot<T> implements Slot<T> {
  get(x: Exchange): T | undefined {
    const at = x.slots.indexOf(this)
    return at < 0 ? undefined : (x.slots[at + 1] as T)
  }

  set(x: Exchange, value: T): void {
    const at = x.slots.indexOf(this)
    if (at < 0) x.slots.push(this, value)
    else x.slots[at + 1] = value
  }
}

interface SnapshotEnvOptions {
  readonly catalog: Pick<Catalog, 'bodies'>
  readonly metrics: Metrics
  readonly shared: SharedTable
  readonly threads: ThreadPool
  readonly state: StateStores
  readonly cache: CacheStore
  readonly network: Network
  /** Receives cleanup functions. */
  readonly closers: Closer[]
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
  /** True if policies are only tried and nothing may be sent. */
  readonly isTrial?: boolean
  /** Number of running periodic jobs; defaults to none. */
  readonly jobs?: { count: number }
}

/** The environment in which a snapshot's policies are compiled. */
export class SnapshotEnv implements CompileEnv {
  readonly state: StateStores
  readonly cache: CacheStore
  readonly #bodies: BodyLanguages | undefined
  readonly #metrics: Metrics
  readonly #shared: SharedTable
  readonly #threads: ThreadPool
  readonly #network: Network
  readonly #closers: Closer[]
  readonly #report: SnapshotEnvOptions['report']
  readonly #options: SnapshotEnvOptions
  readonly #jobs: { count: number }

  constructor(options: SnapshotEnvOptions) {
    const { catalog, metrics, shared, threads, state, network, closers, report } = options
    this.#options = options
    this.#jobs = options.jobs ?? { count: 0 }
    this.#bodies = catalog.bodies
    this.#metrics = metrics
    this.#shared = shared
    this.#threads = threads
    this.state = state
    this.cache = options.cache
    this.#network = network
    this.#closers = closers
    this.#report = report
  }

  /** Returns the same environment for a step with its own cleanup. */
  ofStep(closers: Closer[]): SnapshotEnv {
    return new SnapshotEnv({ ...this.#options, closers, jobs: this.#jobs })
  }

  expression(text: string): Expression {
    return compileExpression(text, { bodies: this.#bodies })
  }

  counter(family: string, labels: Readonly<Record<string, string>>): Counter {
    return this.#metrics.counter(family, labels)
  }

  slot<T>(): Slot<T> {
    return new ListSlot<T>()
  }

  shared<T>(key: string, create: () => T): T {
    const { value, release } = this.#shared.acquire(`policy:${key}`, create)
    this.#closers.push(release)
    return value
  }

  refusal(code: ErrorCode, detail: string, headers: readonly string[] = []): Reply {
    return refusal(code, detail, headers)
  }

  offload<I, O>(module: URL, config: unknown, maxMs?: number): Offload<I, O> {
    return this.#threads.offload(module, config, maxMs)
  }

  refresh(x: Exchange, prepare: (copy: Exchange) => void): boolean {
    return (x.route as Route).refreshes?.send(x, prepare) === true
  }

  httpClient(options: HttpClientOptions): HttpClient {
    const count = this.#metrics.counter.bind(this.#metrics)
    return createHttpClient(options, {
      shared: this.#shared,
      network: this.#network,
      closers: this.#closers,
      count,
    })
  }

  schedule(everyMs: number, job: () => Promise<void> | void): void {
    if (++this.#jobs.count > MAX_JOBS)
      throw new RangeError(`more than ${MAX_JOBS} periodic jobs in one document`)
    let isRunning = false
    const timer = setInterval(
      async () => {
        if (isRunning) return
        isRunning = true
        try {
          await job()
        } catch (error) {
          this.#report('job_failed', { error: String(error) })
        }
        isRunning = false
      },
      Math.min(everyMs, MAX_INTERVAL_MS),
    )
    timer.unref()
    this.#closers.push(() => {
      this.#jobs.count--
      clearInterval(timer)
    })
  }

  report(event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#report(event, fields)
  }

  reportOutdated(event: string, problem: string): void {
    if (this.#options.isTrial === true) throw new Error(problem)
    this.#report(event, { problem })
  }

  onClose(close: () => void): void {
    this.#closers.push(close)
  }
}
