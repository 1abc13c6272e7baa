import type { WorkerDiagnostics } from '../model/summary.js'
import { openSockets, rssBytes } from './process-use.js'

const PERCENTILE = 0.99
const ANSWER_MS = 10_000

/** One series of a Prometheus text, `name{labels}`, to its value. */
export type Series = ReadonlyMap<string, number>

/** One worker process of a gateway. */
interface WorkerProcess {
  readonly id: number
  readonly pid: number
}

/** Looks at the workers of a gateway over a span of time; memory and sockets are the largest that were seen. */
export class WorkerWatch {
  readonly #admin: string
  readonly #workers: readonly WorkerProcess[]
  readonly #before: Series
  readonly #largest = new Map<number, { rssBytes: number; sockets: number }>()

  private constructor(admin: string, workers: readonly WorkerProcess[], before: Series) {
    this.#admin = admin
    this.#workers = workers
    this.#before = before
  }

  static async begin(admin: string): Promise<WorkerWatch> {
    return new WorkerWatch(admin, await workersOf(admin), await scrape(admin))
  }

  /** Call it while there is load: afterwards the sockets are closed. */
  look(): void {
    for (const { id, pid } of this.#workers) {
      const known = this.#largest.get(id) ?? { rssBytes: 0, sockets: 0 }
      this.#largest.set(id, {
        rssBytes: Math.max(known.rssBytes, rssBytes(pid)),
        sockets: Math.max(known.sockets, openSockets(pid)),
      })
    }
  }

  async end(): Promise<WorkerDiagnostics[]> {
    const after = await scrape(this.#admin)
    return this.#workers.map(({ id }) => this.#diagnostics(id, after))
  }

  #diagnostics(id: number, after: Series): WorkerDiagnostics {
    const labels = `worker="${id}"`
    const grown = (name: string): number =>
      (after.get(`${name}{${labels}}`) ?? 0) - (this.#before.get(`${name}{${labels}}`) ?? 0)
    const largest = this.#largest.get(id)
    return {
      worker: id,
      heapUsedBytes: after.get(`gw_worker_heap_used_bytes{${labels}}`) ?? 0,
      rssBytes: largest?.rssBytes ?? 0,
      loopLagP99Micros: lagMicros(this.#before, after, labels),
      gcCount: grown('gw_worker_gc_total'),
      gcMicros: Math.round(grown('gw_worker_gc_seconds_total') * 1e6),
      openSockets: largest?.sockets ?? 0,
    }
  }
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

async function workersOf(admin: string): Promise<WorkerProcess[]> {
  const answer = await fetch(`${admin}/v1/status`, { signal: AbortSignal.timeout(ANSWER_MS) })
  const { workers } = (await answer.json()) as {
    readonly workers: readonly { readonly id: number; readonly pid: number | null }[]
  }
  return workers.flatMap(({ id, pid }) => (pid === null ? [] : [{ id, pid }]))
}
