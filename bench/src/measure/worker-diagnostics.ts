import type { WorkerDiagnostics } from '../model/summary.js'
import { gatewayWorkers, scrape } from '../servers/gateway.js'
import { cpuMicros, rssBytes } from './process-use.js'

type Series = ReadonlyMap<string, number>

/** What a gateway says of itself over the measured time. */
export interface GatewayDiagnostics {
  readonly workers: WorkerDiagnostics[]
  /** Of all workers together; null: it does not count them. */
  readonly upstreamWaits: number | null
}

interface WatchedWorker {
  readonly id: number
  readonly pid: number
  readonly cpuBefore: number
  cpu: number
  rssBytes: number
}

/** Looks at the workers of a gateway over a span of time. */
export class WorkerWatch {
  readonly #admin: string
  readonly #before: Series
  readonly #workers: readonly WatchedWorker[]

  private constructor(admin: string, before: Series, workers: readonly WatchedWorker[]) {
    this.#admin = admin
    this.#before = before
    this.#workers = workers
  }

  static async begin(admin: string): Promise<WorkerWatch> {
    const workers = (await gatewayWorkers(admin)).map((worker) => {
      const cpu = cpuMicros(worker.pid)
      return { ...worker, cpuBefore: cpu, cpu, rssBytes: 0 }
    })
    return new WorkerWatch(admin, await scrape(admin), workers)
  }

  /** Call it while there is load: of a process that is gone the last look stands. */
  look(): void {
    for (const worker of this.#workers) {
      worker.rssBytes = Math.max(worker.rssBytes, rssBytes(worker.pid))
      worker.cpu = Math.max(worker.cpu, cpuMicros(worker.pid))
    }
  }

  async end(): Promise<GatewayDiagnostics> {
    const [before, after] = [this.#before, await scrape(this.#admin)]
    const workers = this.#workers.map(({ id, cpuBefore, cpu, rssBytes: bytes }) => {
      const labels = `worker="${id}"`
      const grown = (name: string): number =>
        (after.get(`${name}{${labels}}`) ?? 0) - (before.get(`${name}{${labels}}`) ?? 0)
      return {
        worker: id,
        heapUsedBytes: after.get(`gw_worker_heap_used_bytes{${labels}}`) ?? 0,
        rssBytes: bytes,
        cpuMicros: cpu - cpuBefore,
        loopLagP99Micros: lagMicros(before, after, labels),
        gcCount: grown('gw_worker_gc_total'),
        gcMicros: Math.round(grown('gw_worker_gc_seconds_total') * 1e6),
      }
    })
    return { workers, upstreamWaits: upstreamWaits(before, after) }
  }
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
  const wanted = (buckets.at(-1)?.count ?? 0) * 0.99
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
