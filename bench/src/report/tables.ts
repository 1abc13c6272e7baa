import { OURS } from '../model/run.js'
import { percentileOf } from '../model/spectrum.js'
import type { HostFacts, Point, Summary } from '../model/summary.js'
import { reasonsOf, type Trial, verdictOf } from '../model/trial.js'
import { COST_REMARK, type CpuRatio, comparablePoints, costText, cpuRatio, isCostKnown } from './cost.js'
import {
  countText,
  errorText,
  hasFigures,
  isValid,
  kindText,
  MARK,
  MARK_REMARK,
  markOf,
  microsText,
  ratioText,
  shareText,
  significant,
  sizeText,
} from './figures.js'
import { gcShare, perCoreScore, sum, worst } from './points-csv.js'
import { referenceBeside, referenceFor } from './reference.js'
import { groupedBy, systemsOf } from './relations.js'

/** A table as text. */
export interface TextTable {
  readonly name: string
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Explanation of the notation, or an empty string. */
  readonly remark: string
  /** Lines below the table in a terminal. */
  readonly legend?: readonly string[]
}

/** A column: its heading, and a function that returns the text for a point. */
type Column = readonly [heading: string, text: (point: Point) => string]

const SETTING: readonly Column[] = [
  ['scenario', ({ title }) => title],
  ['system', ({ system }) => system],
  ['connections', ({ connections }) => countText(connections)],
  ['kind', kindText],
]
/** Columns that are empty for points without figures. The values are in `points.csv`. */
const FIGURES: readonly Column[] = [
  ['requests/s', throughputText],
  [
    '±',
    ({ perSecond: { values, stdev, mean } }) =>
      values.length < 2 ? '–' : `${((100 * stdev) / mean).toFixed(1)} %`,
  ],
  ['P50', (point) => latencyText(point, 50)],
  ['P99', (point) => latencyText(point, 99)],
]
/** Additional columns for a report: evidence for the throughput. */
const PROOF: readonly Column[] = [
  ['mean', (point) => latencyOf(point, point.latency?.meanMicros ?? null)],
  ['deviation', (point) => latencyOf(point, point.latency?.stdevMicros ?? null)],
  ['P90', (point) => latencyText(point, 90)],
  ['P99.9', (point) => latencyText(point, 99.9)],
  ['memory', ({ rssBytes }) => sizeText(rssBytes)],
  ['load average', ({ loadAverage = null }) => significant(loadAverage)],
  [
    'ceiling',
    ({ ceilingPerSecond, perSecond }) =>
      ceilingPerSecond === null ? '–' : `${(ceilingPerSecond / perSecond.mean).toFixed(1)} ×`,
  ],
  ['generator', ({ generatorBusyShare }) => shareText(generatorBusyShare)],
]

/** Returns a table of points for a terminal. Points without figures show the reasons, and their CPU time if it is known. */
export function pointTable(points: readonly Point[]): TextTable {
  return tableOf(points, FIGURES)
}

/** Returns a table of points for a report. */
export function wholePointTable(points: readonly Point[], host: HostFacts): TextTable {
  const score: Column = ['per core-score', (point) => significant(perCoreScore(point, host))]
  const remark =
    'Latencies in brackets were measured at overload. They show the length of the queue. The ceiling is the throughput of load generator and origin alone, relative to that of the system. The column "generator" shows how busy the load generator was. '
  const table = tableOf(points, [...FIGURES, ...PROOF, score])
  return { ...table, remark: remark + table.remark }
}

function tableOf(points: readonly Point[], figures: readonly Column[]): TextTable {
  const rows = points.map((point) => [
    ...SETTING.map(([, text]) => text(point)),
    ...figures.map(([, text]) => (hasFigures(point) ? text(point) : '')),
    costText(point),
    errorText(point),
    resultText(point),
  ])
  const headings = [...[...SETTING, ...figures].map(([heading]) => heading), 'CPU µs', 'errors', 'result']
  const legend = points.some((point) => hasFigures(point) && !isValid(point)) ? [MARK_REMARK] : []
  return { name: 'All points', headings, rows, remark: [...legend, COST_REMARK].join(' '), legend }
}

function resultText(point: Point): string {
  if (isValid(point)) return 'ok'
  if (hasFigures(point)) return `${MARK} ${point.warnings?.join('; ')}`
  return `INVALID${isCostKnown(point) ? ' except CPU' : ''}: ${point.invalid.join('; ')}`
}

/** Returns CPU time and throughput of all systems with our ratio to each peer, or null if there is only one system. */
export function comparisonTable(points: readonly Point[]): TextTable | null {
  const groups = comparablePoints(points)
  const systems = systemsOf(groups.flatMap((group) => [...group.values()]))
  if (groups.length === 0) return null
  const peers = systems.filter((name) => name !== OURS)
  const rows = groups.map((group) => {
    const [sample] = group.values()
    return [
      sample!.title,
      countText(sample!.connections),
      ...systems.map((name) => (group.has(name) ? costText(group.get(name)!) : '–')),
      ...peers.map((peer) => {
        const ratio = cpuRatio(group, peer)
        return ratio === null
          ? '–'
          : `${ratio.isDoubtful ? MARK : ''}${ratioText(ratio.median)}${rangeText(ratio)}`
      }),
      ...systems.map((name) => {
        const point = group.get(name)
        return point === undefined || !hasFigures(point) ? '–' : throughputText(point)
      }),
    ]
  })
  const headings = [
    ...['scenario', 'connections'],
    ...systems.map((name) => `${name} CPU µs`),
    ...peers.map((peer) => `${OURS} / ${peer}`),
    ...systems.map((name) => `${name} requests/s`),
  ]
  const remark = `Each ratio is the median of the repetitions, with the smallest and largest in brackets. In each repetition, the systems are measured one after the other. ${COST_REMARK}`
  return { name: 'Systems side by side', headings, rows, remark }
}

/** Returns ` (1.02 to 1.10)`, or an empty string for a single repetition. */
function rangeText({ min, max, repetitions }: CpuRatio): string {
  return repetitions > 1 ? ` (${ratioText(min)} to ${ratioText(max)})` : ''
}

/** Returns the highest measured rates with a P99 below a limit. Empty if none is. */
export function highestRates(points: readonly Point[], limitMicros: number): TextTable {
  const within = points.filter((point) => {
    const p99 = point.kind === 'fixed-rate' && hasFigures(point) ? percentileOf(point.latency, 99) : null
    return p99 !== null && p99 < limitMicros
  })
  const locations = groupedBy(
    within,
    ({ scenario, system, connections }) => `${scenario} ${system} ${connections}`,
  )
  const best = locations.map((group) =>
    group.reduce((one, other) => (other.targetPerSecond! > one.targetPerSecond! ? other : one)),
  )
  const rows = best.map((point) => [
    ...[point.title, point.system, countText(point.connections)],
    ...[countText(point.targetPerSecond), latencyText(point, 99)],
  ])
  const headings = ['scenario', 'system', 'connections', 'requests/s', 'P99']
  return { name: `Highest rates with P99 < ${microsText(limitMicros)}`, headings, rows, remark: '' }
}

/** Returns our results beside published ones, or null without any. */
export function referenceTable({ suite, points }: Summary): TextTable | null {
  const reference = referenceFor(suite)
  if (reference === null) return null
  const rows = points
    .filter(({ system }) => system === OURS)
    .flatMap((point) => {
      const theirs = referenceBeside(point, reference)
      if (theirs === null) return []
      const [ours, perCore] = [point.perSecond.mean, point.perSecond.mean / point.workers]
      const isSaturation = point.kind === 'saturation'
      return [
        [
          ...[point.title, countText(point.connections), point.kind, throughputText(point)],
          countText(theirs.perSecond),
          // A fixed rate is not compared.
          isSaturation ? `${ratioText(ours / theirs.perSecond)} ×` : '–',
          isSaturation ? `${ratioText(perCore / (theirs.perSecond / theirs.cpus))} ×` : '–',
          latencyText(point, 99),
          theirs.p99 == null ? '–' : microsText(theirs.p99 * 1000),
        ],
      ]
    })
  if (rows.length === 0) return null
  const remark = `${reference.product}: ${reference.hardware}; ${reference.measuredWith}. Their hardware differs from ours, so a ratio is only a hint. Their rows just below a round rate were measured at that rate, and have no ratio.`
  const headings = [
    ...['scenario', 'connections', 'kind', 'ours /s', 'theirs /s', 'ratio', 'ratio a core'],
    ...['our P99', 'their P99'],
  ]
  return { name: 'Published figures', headings, rows, remark }
}

/** Returns garbage collection and memory of our workers, or null if nothing is known. */
export function workerTable(points: readonly Point[]): TextTable | null {
  const known = points.filter((point) => hasFigures(point) && point.diagnostics.length > 0)
  if (known.length === 0) return null
  const columns: readonly Column[] = [
    ...SETTING.filter(([heading]) => heading !== 'system'),
    ['GC time', (point) => `${((gcShare(point) ?? Number.NaN) * 100).toFixed(2)} %`],
    ['collections', (point) => countText(sum(point, 'gcCount'))],
    ['full', (point) => countText(sum(point, 'fullGcCount'))],
    ['mean pause', (point) => microsText(pauseOf(point))],
    ['longest', ({ diagnostics }) => microsText(worst(diagnostics.map((one) => one.gcLongestMicros)))],
    ['heap after GC', (point) => sizeText(sum(point, 'heapAfterGcBytes'))],
    ['memory after GC', (point) => sizeText(sum(point, 'rssAfterGcBytes'))],
    ['limit', ({ memoryLimitBytes = null }) => sizeText(memoryLimitBytes)],
  ]
  const rows = known.map((point) => columns.map(([, text]) => text(point)))
  const remark =
    'GC time is the share of the measured time in which a worker collected garbage. 100 % minus this share is what other reports call GC throughput. Memory after GC is the resident memory of all workers after a full collection at the end of the load. The limit is the enforced memory of the tier.'
  return { name: 'Workers', headings: columns.map(([heading]) => heading), rows, remark }
}

function pauseOf(point: Point): number | null {
  const count = sum(point, 'gcCount')
  return count === null || count === 0 ? null : sum(point, 'gcMicros')! / count
}

/** Returns the trials with their verdicts, or null without trials. */
export function trialTable(trials: readonly Trial[]): TextTable | null {
  if (trials.length === 0) return null
  const headings = [
    ...['trial', 'load/s', 'requests', 'no answer', 'sent again', 'own 5xx', 'upstream 5xx'],
    ...['records lost', 'P99 before', 'during', 'after', 'verdict'],
  ]
  const remark =
    'Requests are sent at a constant rate while a fault is injected. Latency counts from the planned time. A trial fails if something is lost that must not be, or if unexpected data arrives.'
  return { name: 'Trials', headings, rows: trials.map(trialRow), remark }
}

function trialRow(trial: Trial): string[] {
  const { lost, log, phases } = trial
  const unanswered = Object.values(lost).reduce((sum, count) => sum + count, 0)
  const verdict = verdictOf(trial)
  const reasons = reasonsOf(trial).join('; ')
  return [
    ...[trial.title, countText(trial.targetPerSecond), countText(trial.requests), countText(unanswered)],
    ...[trial.sentAgain, trial.gatewayErrors, trial.upstreamErrors].map(countText),
    log === null ? '–' : countText(log.dropped + Math.max(0, log.missing)),
    ...(['before', 'during', 'after'] as const).map((name) =>
      microsText(phases.find((phase) => phase.name === name)?.p99Micros ?? null),
    ),
    verdict === 'passed' ? verdict : `${verdict === 'failed' ? 'FAILED' : verdict}: ${reasons}`,
  ]
}

/** Returns the environment of a run, for repeating it. */
export function factRows({ host, hosts = {}, documents }: Summary): [string, string][] {
  const { source } = host
  const dirty = source?.isDirty === true ? ', with changes that are not committed' : ''
  const listed = (texts: Readonly<Record<string, string>>): string =>
    Object.entries(texts)
      .map(([name, text]) => `${name} ${text}`)
      .join(', ')
  return [
    ['CPU', `${host.cpuModel}, ${host.cpus} CPUs, score ${significant(host.cpuScore)}`],
    ['Memory', sizeText(host.memoryBytes)],
    ['Kernel', host.kernel],
    ['Versions', listed(host.versions)],
    ['Source', source === null ? 'no checkout; the version stands for it' : `${source.commit}${dirty}`],
    ['Machine', listed(host.settings)],
    [
      'Time of others before the run',
      `${shareText(host.foreignShare)} used, ${shareText(host.stolenShare)} taken by the hypervisor`,
    ],
    ...Object.entries(hosts).map(([roles, text]): [string, string] => [`Host of ${roles}`, text]),
    ['Configurations', `${Object.keys(documents).length}; their digests are in summary.json`],
  ]
}

function throughputText(point: Point): string {
  return markOf(point) + countText(point.perSecond.mean)
}

function latencyText(point: Point, percentile: number): string {
  return latencyOf(point, percentileOf(point.latency, percentile))
}

/** Latency at overload is in brackets: it shows the length of the queue. */
function latencyOf(point: Point, micros: number | null): string {
  if (micros === null) return '–'
  const text = microsText(micros)
  return markOf(point) + (point.kind === 'saturation' ? `(${text})` : text)
}
