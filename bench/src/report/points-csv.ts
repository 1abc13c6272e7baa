import { TARGET } from '../model/run.js'
import { percentileOf } from '../model/spectrum.js'
import type { HostFacts, Point, Summary, WorkerDiagnostics } from '../model/summary.js'
import { hasCost } from './cost.js'
import { errorCount, isValid } from './figures.js'
import { perCoreScore } from './tables.js'

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
  ['busy', (point) => point.busyShare],
  ['cores_shared', (point) => point.sharesCores],
  ['rss', (point) => point.rssBytes],
  ['loop_lag', ({ diagnostics }) => worst(diagnostics.map(({ loopLagP99Micros }) => loopLagP99Micros))],
  ['worker_cpu', (point) => sum(point, ({ cpuMicros }) => cpuMicros)],
  ['gc', (point) => sum(point, ({ gcMicros }) => gcMicros)],
  ['upstream_waits', (point) => point.upstreamWaits],
  ['rps_per_score', perCoreScore],
  ['valid', isValid],
  ['cpu_valid', hasCost],
  ['reason', (point) => point.invalid.join('; ')],
]

/** Returns `points.csv`: one row per point, with the reasons for invalid points. */
export function pointsCsv({ points, host }: Summary): string {
  const rows = points.map((point) => COLUMNS.map(([, cell]) => cell(point, host)))
  return [COLUMNS.map(([name]) => name), ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
}

/** Quotes a cell as in RFC 4180. */
function cellText(cell: Cell): string {
  const text = String(cell ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the maximum, or null without values, as for peers. */
function worst(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.max(...values)
}

function sum({ diagnostics }: Point, value: (worker: WorkerDiagnostics) => number): number | null {
  return diagnostics.length === 0 ? null : diagnostics.reduce((all, worker) => all + value(worker), 0)
}
