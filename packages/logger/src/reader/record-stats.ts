import type { RecordFilter } from './record-filter.js'
import { type RecordView, recordValue } from './record-view.js'

/** Fields by which requests can be grouped, by the name of the group. */
export const STATS_FIELDS = {
  route: 'route',
  status: 'res.status',
  consumer: 'consumer.name',
  upstream: 'up.name',
  target: 'up.addr',
  code: 'error.code',
  api: 'api',
  method: 'http.method',
  host: 'url.host',
} as const

/** Name of a group. */
export type StatsKey = keyof typeof STATS_FIELDS

/** Options for statistics. */
export interface StatsOptions {
  readonly filter: RecordFilter
  readonly by: StatsKey
  /** Maximum number of groups, those with the most requests first. */
  readonly top: number
  readonly signal: AbortSignal
}

/** Figures of a group of requests. Percentiles are accurate to about 1 %. */
export interface GroupStats {
  readonly count: number
  /** Requests with the result `error`. */
  readonly errors: number
  /** Requests with the result `blocked` or `shed`. */
  readonly blocked: number
  /** Durations in milliseconds, or null without requests. */
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
  readonly max: number | null
}

/** Statistics of the matching requests. */
export interface TrafficStats {
  /** Start times of the first and the last request in milliseconds since the epoch, or null without requests. */
  readonly firstMs: number | null
  readonly lastMs: number | null
  readonly total: GroupStats
  readonly groups: readonly (GroupStats & { readonly key: string })[]
  /** Number of requests in groups that are not listed. */
  readonly others: number
  /** Number of requests per bucket of `HISTOGRAM_BOUNDS_MS`; the last has no upper bound. */
  readonly histogram: readonly number[]
}

/** Upper bounds of the histogram in milliseconds, exclusive. */
export const HISTOGRAM_BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
]
/** Key of requests without a value. */
export const NO_KEY = '-'
/** Maximum number of groups in memory. Requests of further ones are counted as others. */
const MAX_GROUPS = 10_000
const LOG_STEP = Math.log(1.01)

/** Computes statistics from records in any order. */
export async function recordStats(
  views: AsyncIterable<RecordView>,
  { by, top }: Pick<StatsOptions, 'by' | 'top'>,
): Promise<TrafficStats> {
  const total = new Figures()
  const groups = new Map<string, Figures>()
  const histogram = new Array<number>(HISTOGRAM_BOUNDS_MS.length + 1).fill(0)
  let firstMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  for await (const { record, timeMs } of views) {
    if (recordValue(record, 'event.kind') === 'gap') continue
    const ms = Number(recordValue(record, 't.total') ?? 0)
    const result = String(recordValue(record, 'result') ?? '')
    firstMs = Math.min(firstMs, timeMs)
    lastMs = Math.max(lastMs, timeMs)
    total.add(ms, result)
    const bucket = HISTOGRAM_BOUNDS_MS.findIndex((bound) => ms < bound)
    histogram.splice(bucket, 1, histogram.at(bucket)! + 1)
    const key = String(recordValue(record, STATS_FIELDS[by]) ?? NO_KEY)
    const known = groups.get(key) ?? (groups.size < MAX_GROUPS ? new Figures() : null)
    if (known === null) continue
    groups.set(key, known)
    known.add(ms, result)
  }
  const listed = [...groups]
    .map(([key, figures]) => ({ key, ...figures.stats() }))
    .sort(byCount)
    .slice(0, top)
  return {
    firstMs: total.count === 0 ? null : firstMs,
    lastMs: total.count === 0 ? null : lastMs,
    total: total.stats(),
    groups: listed,
    others: total.count - listed.reduce((sum, { count }) => sum + count, 0),
    histogram,
  }
}

/** Orders groups by number of requests, then by key. */
export function byCount(
  a: { readonly key: string; readonly count: number },
  b: { readonly key: string; readonly count: number },
): number {
  return b.count - a.count || (a.key < b.key ? -1 : 1)
}

/** Counters of a group. Durations are counted in buckets that are 1 % wide, so that memory is bounded. */
class Figures {
  count = 0
  #errors = 0
  #blocked = 0
  #max = 0
  readonly #buckets = new Map<number, number>()

  add(ms: number, result: string): void {
    this.count++
    if (result === 'error') this.#errors++
    if (result === 'blocked' || result === 'shed') this.#blocked++
    this.#max = Math.max(this.#max, ms)
    const bucket = Math.round(Math.log(Math.max(ms, 0.001)) / LOG_STEP)
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1)
  }

  stats(): GroupStats {
    const sorted = [...this.#buckets].sort(([a], [b]) => a - b)
    const percentile = (part: number): number | null => {
      let rank = Math.ceil(part * this.count)
      for (const [bucket, count] of sorted) {
        rank -= count
        if (rank <= 0) return Math.min(this.#max, rounded(Math.exp(bucket * LOG_STEP)))
      }
      return null
    }
    return {
      count: this.count,
      errors: this.#errors,
      blocked: this.#blocked,
      p50: percentile(0.5),
      p90: percentile(0.9),
      p99: percentile(0.99),
      max: this.count === 0 ? null : this.#max,
    }
  }
}

/** Rounds milliseconds to microseconds. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
