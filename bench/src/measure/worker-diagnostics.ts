import type { WorkerDiagnostics } from '../model/summary.js'
import { cpuMicros, rssBytes } from '../process/process-use.js'
import { gatewayWorkers, scrape } from '../servers/gateway.js'

type Series = ReadonlyMap<string, number>

/** Figures that a gateway reports about itself. */
export interface GatewayDiagnostics {
  readonly workers: WorkerDiagnostics[]
  /** Waits for an upstream connection, in all workers. Null if the gateway does not count them. */
  readonly upstreamWaits: number | null
}

/** Starts observing the workers of a gateway. */
export async function watchWorkers(admin: string) {
  const watched = (await gatewayWorkers(admin)).map(({ id, pid }) => {
    const cpuBefore = cpuMicros(pid)
    return { id, pid, cpuBefore, cpu: cpuBefore, rss: 0 }
  })
  const before = await scrape(admin)
  return {
    /** Takes a sample under load. The last sample of an ended process counts. */
    look(): void {
      for (const worker of watched) {
        worker.rss = Math.max(worker.rss, rssBytes(worker.pid))
        worker.cpu = Math.max(worker.cpu, cpuMicros(worker.pid))
      }
    },
    async end(): Promise<GatewayDiagnostics> {
      const after = await scrape(admin)
      const workers = watched.map(({ id, cpuBefore, cpu, rss }) => {
        const labels = `worker="${id}"`
        const value = (name: string): number => after.get(`${name}{${labels}}`) ?? 0
        const grown = (name: string): number => value(name) - (before.get(`${name}{${labels}}`) ?? 0)
        return {
          ...{ worker: id, rssBytes: rss, cpuMicros: cpu - cpuBefore },
          heapUsedBytes: value('gw_worker_heap_used_bytes'),
          loopLagP99Micros: lagMicros(before, after, labels),
          gcCount: grown('gw_worker_gc_total'),
          gcMicros: Math.round(grown('gw_worker_gc_seconds_total') * 1e6),
        }
      })
      return { workers, upstreamWaits: upstreamWaits(before, after) }
    },
  }
}

/** Returns the 99th percentile of event-loop delays between two samples, interpolated within its bucket. */
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

/** Returns the number of waits for an upstream connection between two samples, or null if they are not counted. */
export function upstreamWaits(before: Series, after: Series): number | null {
  const counts = [...after].filter(([name]) => name.startsWith('gw_upstream_waits_total{'))
  if (counts.length === 0) return null
  return counts.reduce((sum, [name, count]) => sum + count - (before.get(name) ?? 0), 0)
}
