import { TARGET } from '../model/run.js'
import { percentileOf } from '../model/spectrum.js'
import type { HostFacts, Point, Summary, WorkerDiagnostics } from '../model/summary.js'
import { hasCost } from './cost.js'
import { errorCount, isValid } from './figures.js'

type Cell = string | number | boolean | null

/** Columns of `points.csv`. Times are microseconds, sizes bytes. */
const COLUMNS: readonly (readonly [string, (point: Point, host: HostFacts) => Cell])[] = [
  ['suite', (point) => point.suite],
  ['scenario', (point) => point.scenario],
  ['title', (point) => point.title],
  ['system', (point) => point.system],
  ['kind', (point) => point.kind],
  ['tier', (point) => point.tier],
  ['cpus', (point) => (point.system === TARGET ? null : point.workers)],
  ['es', (point) => (point.log === 'elasticsearch' ? 'on' : 'off')],
  ['method', (point) => point.method],
  ['body', (point) => point.bodyBytes],
  ['conns', (point) => point.connections],
  ['target_rps', (point) => point.targetPerSecond],
  ['rps', (point) => point.perSecond.mean],
  ['rps_stdev', (point) => point.perSecond.stdev],
  ['rps_min', (point) => point.perSecond.min],
  ['rps_max', (point) => point.perSecond.max],
  ['ceiling_rps', (point) => point.ceilingPerSecond],
  ['generator', (point) => point.engine],
  ['generator_busy', (point) => point.generatorBusyShare],
  ['repetitions', (point) => point.perSecond.values.length],
  ['requests', (point) => point.requests],
  ['err', errorCount],
  ...(['connect', 'timeout', 'reset', 'status', 'other'] as const).map(
    (name) => [`err_${name}`, ({ errors }: Point) => errors[name]] as const,
  ),
  ['latency_at', (point) => (point.kind === 'saturation' ? 'overload' : 'rate')],
  ['corrected', (point) => point.latency?.isCorrected ?? null],
  ['mean', (point) => point.latency?.meanMicros ?? null],
  ['stdev', (point) => point.latency?.stdevMicros ?? null],
  ...[50, 75, 90, 95, 99, 99.9, 99.99].map(
    (percentile) =>
      [
        `p${String(percentile).replace('.', '_')}`,
        ({ latency }: Point) => percentileOf(latency, percentile),
      ] as const,
  ),
  ['max', (point) => point.latency?.maxMicros ?? null],
  ['cpu', (point) => point.cpuMicrosPerRequest?.mean ?? null],
  ['cpu_stdev', (point) => point.cpuMicrosPerRequest?.stdev ?? null],
  ['kernel', (point) => point.kernelShare ?? null],
  ['busy', (point) => point.busyShare],
  ['cores_shared', (point) => point.sharesCores],
  ['rss', (point) => point.rssBytes],
  ['loop_lag', ({ diagnostics }) => worst(diagnostics.map((worker) => worker.loopLagP99Micros))],
  ['worker_cpu', (point) => sum(point, 'cpuMicros')],
  ['gc', (point) => sum(point, 'gcMicros')],
  ['gc_share', gcShare],
  ['gc_longest', ({ diagnostics }) => worst(diagnostics.map((worker) => worker.gcLongestMicros))],
  ['heap_after_gc', (point) => sum(point, 'heapAfterGcBytes')],
  ['rss_after_gc', (point) => sum(point, 'rssAfterGcBytes')],
  ['load_average', (point) => point.loadAverage ?? null],
  ['memory_limit', (point) => point.memoryLimitBytes ?? null],
  ['upstream_waits', (point) => point.upstreamWaits],
  ['rps_per_score', perCoreScore],
  ['valid', isValid],
  ['cpu_valid', hasCost],
  ['reason', (point) => point.invalid.join('; ')],
  ['warnings', ({ warnings = [] }) => warnings.join('; ')],
]

/** Returns `points.csv`: one row per point, with the reasons for invalid points. */
export function pointsCsv({ points, host }: Summary): string {
  const rows = points.map((point) => COLUMNS.map(([, cell]) => cell(point, host)))
  return [COLUMNS.map(([name]) => name), ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

/** Quotes a cell as in RFC 4180. */
export function csvCell(cell: string | number | boolean | null): string {
  const text = String(cell ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the maximum, or null if a value is unknown or there are none, as for peers. */
export function worst(values: readonly (number | undefined)[]): number | null {
  return values.length === 0 || values.includes(undefined) ? null : Math.max(...(values as number[]))
}

/** Returns the sum of a figure of all workers, or null if it is unknown. */
export function sum({ diagnostics }: Point, name: keyof WorkerDiagnostics): number | null {
  const total = diagnostics.reduce((all, worker) => all + (worker[name] ?? Number.NaN), 0)
  return diagnostics.length === 0 || Number.isNaN(total) ? null : total
}

/** Returns the share of time that the workers spent in garbage collections, or null if it is unknown. */
export function gcShare(point: Point): number | null {
  const seconds = point.requests / point.perSecond.mean
  const micros = sum(point, 'gcMicros')
  return micros === null ? null : micros / 1e6 / seconds / point.diagnostics.length
}

/**
 * Returns requests per second per CPU score of the system's cores, for comparing different machines. Null at fixed
 * rates, or if the cores are unknown.
 */
export function perCoreScore(point: Point, { cpuScore, cpus }: HostFacts): number | null {
  if (point.kind === 'fixed-rate' || point.system === TARGET || cpuScore === 0) return null
  return point.perSecond.mean / (cpuScore * Math.min(point.workers, cpus))
}
