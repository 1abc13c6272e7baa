import type { RunningGateway } from '../contestant/gateway.js'
import type { WorkerDiagnostics, WorkerLog } from '../model/summary.js'
import { LogWatch } from './log-watch.js'
import { ProcessWatch } from './process-watch.js'

const PERCENTILE = 0.99
const ANSWER_MS = 10_000

/** One series of a Prometheus text, `name{labels}`, to its value. */
export type Series = ReadonlyMap<string, number>

/** What a worker says of itself. */
type Vitals = Pick<
  WorkerDiagnostics,
  'worker' | 'heapUsedBytes' | 'loopLagP99Micros' | 'gcCount' | 'gcMicros'
>

/** What a gateway says of itself. */
interface GatewayDiagnostics {
  readonly workers: readonly WorkerDiagnostics[]
  /** Of all workers together; null: it does not count them. */
  readonly upstreamWaits: number | null
}

/** One worker process of a gateway. */
interface WorkerProcess {
  readonly id: number
  readonly pid: number
}

interface WatchParts {
  readonly admin: string
  readonly workers: readonly WorkerProcess[]
  readonly before: Series
  readonly log: LogWatch | null
}

/** Looks at the workers of a gateway over a span of time. */
export class WorkerWatch {
  readonly #admin: string
  readonly #before: Series
  readonly #log: LogWatch | null
  readonly #processes: ReadonlyMap<number, ProcessWatch>

  private constructor({ admin, workers, before, log }: WatchParts) {
    this.#admin = admin
    this.#before = before
    this.#log = log
    this.#processes = new Map(workers.map(({ id, pid }) => [id, new ProcessWatch(pid)]))
  }

  static async begin({ admin, hasLog }: Pick<RunningGateway, 'admin' | 'hasLog'>): Promise<WorkerWatch> {
    const [workers, before] = [await workersOf(admin), await scrape(admin)]
    return new WorkerWatch({ admin, workers, before, log: hasLog ? await LogWatch.begin(admin) : null })
  }

  /** Call it while there is load, and at its end: afterwards the sockets are closed. */
  look(): void {
    for (const watch of this.#processes.values()) watch.look()
  }

  async end(): Promise<GatewayDiagnostics> {
    const logs = await this.#log?.end()
    const after = await scrape(this.#admin)
    const workers = [...this.#processes].map(([id, watch]) => ({
      ...this.#vitals(id, after),
      ...watch.use,
      ...logOf(logs, id),
    }))
    return { workers, upstreamWaits: upstreamWaits(this.#before, after) }
  }

  #vitals(id: number, after: Series): Vitals {
    const labels = `worker="${id}"`
    const grown = (name: string): number =>
      (after.get(`${name}{${labels}}`) ?? 0) - (this.#before.get(`${name}{${labels}}`) ?? 0)
    return {
      worker: id,
      heapUsedBytes: after.get(`gw_worker_heap_used_bytes{${labels}}`) ?? 0,
      loopLagP99Micros: lagMicros(this.#before, after, labels),
      gcCount: grown('gw_worker_gc_total'),
      gcMicros: Math.round(grown('gw_worker_gc_seconds_total') * 1e6),
    }
  }
}

function logOf(logs: ReadonlyMap<number, WorkerLog> | undefined, id: number): Pick<WorkerDiagnostics, 'log'> {
  const log = logs?.get(id)
  return log === undefined ? {} : { log }
}

/** The series of a Prometheus text. */
export function parseSeries(text: string): Series {
  const series = new Map<string, number>()
  for (const line of text.split('\n')) {
    const gap = line.lastIndexOf(' ')
    if (gap > 0 && !line.startsWith('#')) series.set(line.slice(0, gap), Number(line.slice(gap + 1)))
  }
  return series
}

/** The numbers of a gateway now. */
export async function scrape(admin: string): Promise<Series> {
  const answer = await fetch(`${admin}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS) })
  return parseSeries(await answer.text())
}

/** The 99th percentile of the loop's delays between two looks, as a line between the bounds of its bucket. */
export function lagMicros(before: Series, after: Series, labels: string): number {
  const start = `gw_worker_loop_delay_seconds_bucket{${labels},le="`
  const buckets = [...after]
    .filter(([name]) => name.startsWith(start))
    .map(([name, count]) => ({
      bound: Number(name.slice(start.length, -2).replace('+Inf', 'Infinity')),
      count: count - (before.get(name) ?? 0),
    }))
    .toSorted((a, b) => a.bound - b.bound)
  const wanted = (buckets.at(-1)?.count ?? 0) * PERCENTILE
  if (wanted === 0) return 0
  const at = buckets.findIndex(({ count }) => count >= wanted)
  const { bound, count } = buckets[at]!
  const below = buckets[at - 1] ?? { bound: 0, count: 0 }
  if (bound === Number.POSITIVE_INFINITY) return Math.round(below.bound * 1e6)
  const share = (wanted - below.count) / (count - below.count)
  return Math.round((below.bound + share * (bound - below.bound)) * 1e6)
}

/** How often requests waited for a connection to their upstream between two looks; null: nobody counts them. */
export function upstreamWaits(before: Series, after: Series): number | null {
  const counts = [...after].filter(([name]) => name.startsWith('gw_upstream_waits_total{'))
  if (counts.length === 0) return null
  return counts.reduce((sum, [name, count]) => sum + count - (before.get(name) ?? 0), 0)
}

async function workersOf(admin: string): Promise<WorkerProcess[]> {
  const answer = await fetch(`${admin}/v1/status`, { signal: AbortSignal.timeout(ANSWER_MS) })
  const { workers } = (await answer.json()) as {
    readonly workers: readonly { readonly id: number; readonly pid: number | null }[]
  }
  return workers.flatMap(({ id, pid }) => (pid === null ? [] : [{ id, pid }]))
}
