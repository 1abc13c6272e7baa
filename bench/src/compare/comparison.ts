import type { Point, Summary } from '../model/summary.js'
import { areCostsAlike, busyText, hasCost } from '../report/cost.js'
import { countText, isValid, kindText } from '../report/figures.js'
import { enginesText } from '../report/load-generators.js'
import type { Estimate } from '../statistics.js'
import { changeOfMeans } from './bootstrap.js'
import { type ComparedTrial, comparedTrials, isWorse } from './compared-trials.js'
import { comparisonLines } from './comparison-lines.js'
import type { Limit, Metric } from './limit.js'
import { METRICS } from './limit.js'
import { metricValues } from './metric-values.js'
import { type Pair, pairedPoints, vanished } from './pairs.js'

/** 950 of 1,000 is a fall of a little more than 5 % in binary fractions. */
const ROUNDING = 1e-9

/** What two runs say of each other. */
export interface Comparison {
  /** Points with a figure that is a result on both sides: all of them, or CPU time alone. */
  readonly points: readonly ComparedPoint[]
  /** Trials that both sides have, with their verdicts. */
  readonly trials: readonly ComparedTrial[]
  /** Names of points and trials that one side only has. */
  readonly onlyBefore: readonly string[]
  readonly onlyAfter: readonly string[]
  /** Names of points that are no evidence, with the reasons. */
  readonly noEvidence: readonly string[]
  /** What weakens the comparison, such as another machine. */
  readonly warnings: readonly string[]
  /**
   * Whether any limit is broken beyond doubt, or could not be checked, or a result of before is none any more; with any
   * limit, whether a trial that was passed is not any more.
   */
  readonly isFailed: boolean
  /** All of it for people, ready to print. */
  readonly lines: readonly string[]
}

export interface ComparedPoint {
  readonly name: string
  readonly before: Point
  readonly after: Point
  readonly changes: readonly MetricChange[]
  readonly verdicts: readonly Verdict[]
}

export interface MetricChange {
  readonly metric: Metric
  readonly before: number
  readonly after: number
  /** As a share of `before`. */
  readonly change: number
  /** Null: the repetitions do not say how much of it is noise. */
  readonly range: Estimate | null
}

export interface Verdict {
  readonly limit: Limit
  /** `broken`: the whole range lies beyond the limit. `unclear`: the change lies beyond it, the range does not, or there is none. */
  readonly outcome: 'kept' | 'unclear' | 'broken'
}

/** How two runs are compared. */
export interface ComparisonOptions {
  /** What the later run has not measured does not speak against it. */
  readonly isPartial?: boolean
}

/**
 * Compares the points that two runs have in common: same suite, scenario, contestant, connections, kind and rate. Trials
 * are compared by their verdicts, which are what limits are for there.
 * @throws Error when the runs are of different suites.
 */
export function compareSummaries(
  before: Summary,
  after: Summary,
  limits: readonly Limit[],
  { isPartial = false }: ComparisonOptions = {},
): Comparison {
  if (before.suite !== after.suite)
    throw new Error(
      `these are runs of different suites, ${before.suite} and ${after.suite}: nothing in them can be compared`,
    )
  const { pairs, onlyBefore, onlyAfter } = pairedPoints(before.points, after.points)
  const points = pairs
    .filter((pair) => METRICS.some((metric) => isEvidence(pair, metric)))
    .map((pair) => compared(pair, limits))
  const isBroken = points.some((point) => point.verdicts.some(({ outcome }) => outcome === 'broken'))
  const isOfTrials = after.trials !== undefined
  const unchecked = isOfTrials ? [] : uncheckedLimits(points, limits)
  const isLost = limits.some(({ metric }) => pairs.some((pair) => hasLost(pair, metric)))
  const { trials, ...others } = comparedTrials(before, after)
  const isTrialLost = limits.length > 0 && trials.some(isWorse)
  const trialsMissing = limits.length > 0 ? others.missing : 0
  const missing = isPartial ? 0 : missingResults(onlyBefore, onlyAfter, limits).length + trialsMissing
  const found = {
    points,
    trials,
    onlyBefore: [...onlyBefore.map(nameOf), ...others.onlyBefore],
    onlyAfter: [...onlyAfter.map(nameOf), ...others.onlyAfter],
    noEvidence: pairs.flatMap(reasonsAgainst),
    warnings: [
      ...warningsOf(before, after, points.length + trials.length),
      ...memoryWarnings(points),
      ...rangeWarnings(points),
      ...unchecked,
      ...missingText(missing),
    ],
    isFailed: isBroken || unchecked.length > 0 || isLost || isTrialLost || missing > 0,
  }
  return { ...found, lines: comparisonLines(found) }
}

/** Whether it is one on both sides, and of contestants that were busy alike where that changes it. */
function isEvidence({ before, after }: Pair, metric: Metric): boolean {
  if (metric === 'cpu') return areCostsAlike(before, after)
  return isValid(before) && isValid(after)
}

/** Whether a figure that was a result is none any more. */
function hasLost({ before, after }: Pair, metric: Metric): boolean {
  const isResult = resultOf(metric)
  return isResult(before) && !isResult(after)
}

function resultOf(metric: Metric): (point: Point) => boolean {
  return metric === 'cpu' ? hasCost : isValid
}

/** Points with a figure that is a result, has a limit, and was not measured again. */
function missingResults(
  onlyBefore: readonly Point[],
  onlyAfter: readonly Point[],
  limits: readonly Limit[],
): Point[] {
  const missing = limits.flatMap(({ metric }) => {
    const isResult = resultOf(metric)
    return vanished(onlyBefore.filter(isResult), onlyAfter.filter(isResult))
  })
  return [...new Set(missing)]
}

function missingText(missing: number): string[] {
  if (missing === 0) return []
  const are = missing === 1 ? '1 result is' : `${missing} results are`
  return [`${are} in the earlier run alone; with --partial the later one is taken for a part of it`]
}

function compared({ before, after }: Pair, limits: readonly Limit[]): ComparedPoint {
  const known = METRICS.filter((metric) => isEvidence({ before, after }, metric))
  const changes = known.flatMap((metric) => changeOf(before, after, metric))
  const verdicts = limits.flatMap((limit) => {
    const change = changes.find((each) => each.metric === limit.metric)
    return change === undefined ? [] : [{ limit, outcome: outcomeOf(change, limit) }]
  })
  return { name: nameOf(after), before, after, changes, verdicts }
}

function changeOf(before: Point, after: Point, metric: Metric): MetricChange[] {
  const [earlier, later] = [metricValues(before, metric), metricValues(after, metric)]
  if (!isMeasured(earlier.merged) || !isMeasured(later.merged)) return []
  const change = later.merged / earlier.merged - 1
  const range = changeOfMeans(earlier.repetitions, later.repetitions)
  if (!isMeaningful(metric, after)) return []
  return [{ metric, before: earlier.merged, after: later.merged, change, range }]
}

/**
 * At a fixed rate the throughput was chosen, and at overload the latency tells the length of the line. The highest rate
 * within a limit is a throughput that was found, and its latency is near the limit whatever the gateway does.
 */
function isMeaningful(metric: Metric, { kind, sloMicros }: Point): boolean {
  if (metric === 'rps') return kind === 'saturation' || sloMicros !== undefined
  if (sloMicros !== undefined) return metric !== 'p50' && metric !== 'p99'
  return (metric !== 'p50' && metric !== 'p99') || kind === 'fixed-rate'
}

function isMeasured(value: number | null): value is number {
  return value !== null && Number.isFinite(value) && value > 0
}

function outcomeOf({ change, range }: MetricChange, limit: Limit): Verdict['outcome'] {
  const isBeyond = (value: number): boolean =>
    limit.direction === '<' ? value < limit.change - ROUNDING : value > limit.change + ROUNDING
  if (range !== null && isBeyond(range.low) && isBeyond(range.high)) return 'broken'
  return isBeyond(change) ? 'unclear' : 'kept'
}

function reasonsAgainst({ before, after }: Pair): string[] {
  if (isValid(before) && isValid(after)) return []
  const what = areCostsAlike(before, after) ? ' but for CPU time' : ''
  const sides = [
    ...before.invalid.map((reason) => `before: ${reason}`),
    ...after.invalid.map((reason) => `after: ${reason}`),
  ]
  return [`${nameOf(after)}${what} (${[...sides, ...busyGap(before, after)].join('; ')})`]
}

/** Why two CPU times that are results do not say anything of each other. */
function busyGap(before: Point, after: Point): string[] {
  if (!hasCost(before) || !hasCost(after) || areCostsAlike(before, after)) return []
  const [one, other] = [before, after].map((point) => busyText(point) || ' at full load')
  return [`CPU time${one} before and${other} after cannot be compared`]
}

function warningsOf(before: Summary, after: Summary, compared: number): string[] {
  const warnings: string[] = []
  const what =
    after.trials === undefined ? 'point in common that is a result on both sides' : 'trial in common'
  if (compared === 0) warnings.push(`the runs have no ${what}`)
  if (before.host.cpuModel !== after.host.cpuModel || before.host.cpus !== after.host.cpus)
    warnings.push(`the runs are from different machines: ${before.host.cpuModel}, ${after.host.cpuModel}`)
  if (enginesText(before) !== enginesText(after))
    warnings.push(`the runs have different load generators: ${enginesText(before)}, ${enginesText(after)}`)
  return warnings
}

/** What a worker takes for its heap before it collects follows from the limit around it. */
function memoryWarnings(points: readonly ComparedPoint[]): string[] {
  const others = points.filter(({ before, after }) => before.memory?.limitBytes !== after.memory?.limitBytes)
  if (others.length === 0) return []
  const count = others.length === 1 ? '1 point' : `${others.length} points`
  return [`${count} had another limit of memory, or none, in one of the runs`]
}

function rangeWarnings(points: readonly ComparedPoint[]): string[] {
  const isKnown = points.every((point) => point.changes.every(({ range }) => range !== null))
  return isKnown
    ? []
    : ['some figures have fewer than two repetitions on a side: their changes have no range and fail nothing']
}

/** A limit that no point could be held against must not look as if it were kept. */
function uncheckedLimits(points: readonly ComparedPoint[], limits: readonly Limit[]): string[] {
  return limits
    .filter((limit) => points.every((point) => point.verdicts.every((verdict) => verdict.limit !== limit)))
    .map(({ metric, text }) => `the limit ${text} was not checked: ${WANTED[metric]} on both sides`)
}

const WANTED: Readonly<Record<Metric, string>> = {
  rps: 'there is no saturation point that is a result',
  cpu: 'there is no result with a CPU time',
  p50: 'there is no fixed-rate point that is a result',
  p99: 'there is no fixed-rate point that is a result',
  rss: 'there is no result with a resident set',
}

function nameOf(point: Point): string {
  const name = `${point.suite} ${point.scenario} ${point.contestant}`
  return `${name} ${countText(point.connections)} connections ${kindText(point)}`
}
