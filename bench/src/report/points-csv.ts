import type { HostFacts, Point, Spread, Summary } from '../model/summary.js'
import { perCoreScore } from './core-score.js'
import { hasCost } from './cost.js'
import { type CsvCell, csvText } from './csv.js'
import { errorCount, isValid, percentileOf } from './figures.js'
import { TARGET } from './rivals.js'

/** Name and content of every column of `points.csv`; times are microseconds, sizes bytes. */
const COLUMNS: readonly (readonly [string, (point: Point, host: HostFacts) => CsvCell])[] = [
  ['suite', (point) => point.suite],
  ['scenario', (point) => point.scenario],
  ['title', (point) => point.title],
  ['contestant', (point) => point.contestant],
  ['kind', (point) => point.kind],
  ['tier', (point) => point.tier],
  ['cpus', (point) => (point.contestant === TARGET ? null : point.workers)],
  // That of the tier alone would be the claim of a limit where none could be set.
  ['mem', (point) => point.memory?.limitBytes ?? null],
  ['es', (point) => (point.log === 'elasticsearch' ? 'on' : 'off')],
  ['method', (point) => point.method],
  ['body', (point) => point.bodyBytes],
  ['conns', (point) => point.connections],
  ['target_rps', (point) => point.targetPerSecond],
  ['slo', (point) => point.sloMicros ?? null],
  ['rps', (point) => point.perSecond.mean],
  ['rps_stdev', (point) => point.perSecond.stdev],
  ['rps_min', (point) => point.perSecond.min],
  ['rps_max', (point) => point.perSecond.max],
  ['ceiling_rps', (point) => point.ceilingPerSecond ?? null],
  ['generator', (point) => point.engine ?? null],
  ['generator_busy', (point) => point.generatorBusyShare ?? null],
  ['repetitions', (point) => point.perSecond.values.length],
  ['requests', (point) => point.requests],
  ['err', errorCount],
  ['err_connect', (point) => point.errors.connect],
  ['err_timeout', (point) => point.errors.timeout],
  ['err_reset', (point) => point.errors.reset],
  ['err_status', (point) => point.errors.status],
  ['err_other', (point) => point.errors.other],
  ['latency_at', (point) => (point.kind === 'saturation' ? 'overload' : 'rate')],
  ['corrected', (point) => point.latency?.isCorrected ?? null],
  ['mean', (point) => point.latency?.meanMicros ?? null],
  ['p50', (point) => percentileOf(point.latency, 50)],
  ['p75', (point) => percentileOf(point.latency, 75)],
  ['p90', (point) => percentileOf(point.latency, 90)],
  ['p95', (point) => percentileOf(point.latency, 95)],
  ['p99', (point) => percentileOf(point.latency, 99)],
  ['p99_9', (point) => percentileOf(point.latency, 99.9)],
  ['p99_99', (point) => percentileOf(point.latency, 99.99)],
  ['max', (point) => point.latency?.maxMicros ?? null],
  ['cpu', (point) => measured(point.cpuMicrosPerRequest, 'mean')],
  ['cpu_stdev', (point) => measured(point.cpuMicrosPerRequest, 'stdev')],
  ['busy', (point) => point.busyShare],
  ['cores_shared', (point) => point.sharesCores ?? null],
  ['rss', (point) => (point.rssBytes === 0 ? null : point.rssBytes)],
  ['loop_lag', (point) => worst(point.diagnostics.map(({ loopLagP99Micros }) => loopLagP99Micros))],
  ['valid', isValid],
  ['cpu_valid', hasCost],
  ['reason', (point) => point.invalid.join('; ')],
  ['rps_per_score', perCoreScore],
  ['worker_cpu', (point) => sum(point.diagnostics.map(({ cpuMicros }) => cpuMicros))],
  ['voluntary_switches', (point) => sum(point.diagnostics.map((worker) => worker.voluntarySwitches))],
  ['involuntary_switches', (point) => sum(point.diagnostics.map((worker) => worker.involuntarySwitches))],
  ['gc', (point) => sum(point.diagnostics.map(({ gcMicros }) => gcMicros))],
  ['log_queue', (point) => sum(point.diagnostics.map(({ log }) => log?.queuedRecords))],
  ['log_lag', (point) => worst(point.diagnostics.map(({ log }) => log?.lagMicros))],
  ['log_drops', (point) => sum(point.diagnostics.map(({ log }) => log?.droppedRecords))],
  [
    'throttled_periods',
    (point) => sum((point.perRepetition ?? []).map(({ throttling }) => throttling?.throttledPeriods)),
  ],
  ['upstream_waits', (point) => point.upstreamWaits ?? null],
  ['mem_peak', (point) => point.memory?.peakBytes ?? null],
]

/** `points.csv`: one row a point, also of those that are no result, which say why. */
export function pointsCsv(summary: Summary): string {
  const rows = summary.points.map((point) => COLUMNS.map(([, cell]) => cell(point, summary.host)))
  return csvText([COLUMNS.map(([name]) => name), ...rows])
}

/** Null for a figure that nobody measured. */
function measured(figure: Spread, name: 'mean' | 'stdev'): number | null {
  return figure.values.length === 0 ? null : figure[name]
}

/** The largest of what is known; null where nothing is, as of a peer, which has no workers that we could ask. */
function worst(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? null : Math.max(...known)
}

/** All that is known together; null where nothing is. */
function sum(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
}
