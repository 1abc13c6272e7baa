import { formatSize } from '@sluice/core'
import type { Point, Summary } from '../model/summary.js'
import { areCostsAlike, busyText, hasCost } from '../report/cost.js'
import { changeText, countText, isValid, kindText, microsText } from '../report/figures.js'
import {
  changeOf,
  type Limit,
  type LimitVerdict,
  METRICS,
  type Metric,
  type MetricChange,
  outcomeOf,
} from './changes.js'

/** Comparison of two runs. */
export interface Comparison {
  /** Points with a valid figure on both sides, possibly CPU time only. */
  readonly points: readonly ComparedPoint[]
  /** Names of points that only one side has. */
  readonly onlyBefore: readonly string[]
  readonly onlyAfter: readonly string[]
  /** Names of points that cannot be compared, with reasons. */
  readonly noEvidence: readonly string[]
  /** Limitations of the comparison, such as different machines. */
  readonly warnings: readonly string[]
  /** True if a limit is exceeded or could not be checked, or if a valid point is no longer valid. */
  readonly isFailed: boolean
}

/** A point of both runs with its changes. */
export interface ComparedPoint {
  readonly name: string
  readonly before: Point
  readonly after: Point
  readonly changes: readonly MetricChange[]
  readonly verdicts: readonly LimitVerdict[]
}

/** Tolerance of rates: they are shares of a saturation that varies between runs. */
const RATE_TOLERANCE = 0.05

interface Pair {
  readonly before: Point
  readonly after: Point
}

/**
 * Compares the common points of two runs: same scenario, system, connections, kind and rate. Trials have verdicts
 * only.
 * @param isPartial true if missing points in the later run are allowed
 * @throws Error if the suites differ
 */
export function compareSummaries(
  before: Summary,
  after: Summary,
  limits: readonly Limit[],
  isPartial = false,
): Comparison {
  if (before.suite !== after.suite)
    throw new Error(`these are runs of different suites, ${before.suite} and ${after.suite}`)
  const { pairs, onlyBefore, onlyAfter } = pairedPoints(before.points, after.points)
  const points = pairs
    .filter((pair) => METRICS.some((metric) => isEvidence(pair, metric)))
    .map((pair) => compared(pair, limits))
  const unchecked = limits.filter(
    (limit) => !points.some(({ verdicts }) => verdicts.some((verdict) => verdict.limit === limit)),
  )
  const missing = isPartial || limits.length === 0 ? [] : missingNames(onlyBefore, onlyAfter)
  const isBroken = points.some(({ verdicts }) => verdicts.some(({ outcome }) => outcome === 'broken'))
  const isLost = limits.some(({ metric }) =>
    pairs.some((pair) => resultOf(metric)(pair.before) && !resultOf(metric)(pair.after)),
  )
  return {
    ...{ points, noEvidence: pairs.flatMap(reasonsAgainst) },
    ...{ onlyBefore: onlyBefore.map(nameOf), onlyAfter: onlyAfter.map(nameOf) },
    warnings: [
      ...warningsOf(before, after, points),
      ...unchecked.map(
        ({ text }) => `the limit ${text} was not checked: no point has that figure on both sides`,
      ),
      ...(missing.length === 0
        ? []
        : [`results of the earlier run alone: ${missing.join(', ')}; with --partial they do not fail`]),
    ],
    isFailed: isBroken || isLost || unchecked.length > 0 || missing.length > 0,
  }
}

/** True if a figure is valid on both sides, with similar use of cores where that matters. */
function isEvidence({ before, after }: Pair, metric: Metric): boolean {
  return metric === 'cpu' ? areCostsAlike(before, after) : isValid(before) && isValid(after)
}

function resultOf(metric: Metric): (point: Point) => boolean {
  return metric === 'cpu' ? hasCost : isValid
}

function compared({ before, after }: Pair, limits: readonly Limit[]): ComparedPoint {
  const changes = METRICS.filter((metric) => isEvidence({ before, after }, metric)).flatMap(
    (metric) => changeOf(before, after, metric) ?? [],
  )
  const verdicts = limits.flatMap((limit) => {
    const change = changes.find(({ metric }) => metric === limit.metric)
    return change === undefined ? [] : [{ limit, outcome: outcomeOf(change, limit) }]
  })
  return { name: nameOf(after), before, after, changes, verdicts }
}

/** Finds the matching point of the other run for each point. */
function pairedPoints(
  before: readonly Point[],
  after: readonly Point[],
): { pairs: Pair[]; onlyBefore: Point[]; onlyAfter: Point[] } {
  const free = new Set(after)
  const pairs: Pair[] = []
  const onlyBefore: Point[] = []
  for (const point of before) {
    const alike = [...free].filter(
      (one) => keyOf(one) === keyOf(point) && rateGap(point, one) <= RATE_TOLERANCE,
    )
    const match = alike.toSorted((a, b) => rateGap(point, a) - rateGap(point, b))[0]
    if (match === undefined) onlyBefore.push(point)
    else {
      pairs.push({ before: point, after: match })
      free.delete(match)
    }
  }
  return { pairs, onlyBefore, onlyAfter: [...free] }
}

function keyOf({ scenario, system, connections, kind }: Point): string {
  return JSON.stringify([scenario, system, connections, kind])
}

function rateGap(left: Point, right: Point): number {
  if (left.targetPerSecond === null || right.targetPerSecond === null) return 0
  return Math.abs(right.targetPerSecond / left.targetPerSecond - 1)
}

/** Returns valid points that are missing. A rate of another saturation replaces its counterpart. */
function missingNames(onlyBefore: readonly Point[], onlyAfter: readonly Point[]): string[] {
  const locations = onlyAfter.filter(isValid).map(keyOf)
  const gone = onlyBefore.filter(isValid).filter((point) => {
    const at = locations.indexOf(keyOf(point))
    if (at >= 0) locations.splice(at, 1)
    return at < 0
  })
  return gone.map(nameOf)
}

const flawsOf = ({ invalid, warnings = [] }: Point): string[] => [...invalid, ...warnings]

function reasonsAgainst({ before, after }: Pair): string[] {
  if (isValid(before) && isValid(after)) return []
  const isAlike = areCostsAlike(before, after)
  const sides = [
    ...flawsOf(before).map((reason) => `before: ${reason}`),
    ...flawsOf(after).map((reason) => `after: ${reason}`),
    ...(hasCost(before) && hasCost(after) && !isAlike ? ['CPU use differed'] : []),
  ]
  return [`${nameOf(after)}${isAlike ? ', except CPU time' : ''} (${sides.join('; ')})`]
}

function warningsOf(before: Summary, after: Summary, points: readonly ComparedPoint[]): string[] {
  const engines = ({ points: all }: Summary): string =>
    [...new Set(all.map(({ engine }) => engine))].sort().join()
  const isUnknown = points.some(({ changes }) => changes.some(({ range }) => range === null))
  return [
    ...(before.host.cpuModel === after.host.cpuModel && before.host.cpus === after.host.cpus
      ? []
      : [`the runs are from different machines: ${before.host.cpuModel}, ${after.host.cpuModel}`]),
    ...(engines(before) === engines(after) ? [] : ['the runs have different load generators']),
    ...(isUnknown ? ['changes without a range, of fewer than two repetitions on a side, fail nothing'] : []),
  ]
}

function nameOf(point: Point): string {
  return `${point.scenario} ${point.system} ${countText(point.connections)} connections ${kindText(point)}`
}

/** Formats a comparison for a terminal or CI log. */
export function comparisonLines(comparison: Comparison): string[] {
  const { points, onlyBefore, onlyAfter, noEvidence, warnings, isFailed } = comparison
  return [
    ...points.flatMap(pointLines),
    ...noEvidence.map((name) => `no evidence: ${name}`),
    ...onlyBefore.map((name) => `only before: ${name}`),
    ...onlyAfter.map((name) => `only after: ${name}`),
    ...warnings.map((warning) => `warning: ${warning}`),
    isFailed ? 'FAILED' : points.length === 0 ? 'nothing was compared' : 'ok',
  ]
}

function pointLines({ name, before, after, changes, verdicts }: ComparedPoint): string[] {
  const figure = (metric: Metric, value: number): string => {
    if (metric === 'rps') return countText(value)
    return metric === 'rss' ? formatSize(Math.round(value)) : microsText(value)
  }
  return [
    name,
    ...changes.map(({ metric, before: old, after: now, change, range }) => {
      const busy = (point: Point): string => (metric === 'cpu' ? busyText(point) : '')
      const spread = range === null ? 'no range' : `95 %: ${range.map(changeText).join(' to ')}`
      return `  ${metric.padEnd(4)} ${figure(metric, old)}${busy(before)} → ${figure(metric, now)}${busy(after)}  ${changeText(change)} (${spread})`
    }),
    ...verdicts
      .filter(({ outcome }) => outcome !== 'kept')
      .map(({ limit, outcome }) => `  ${outcome === 'broken' ? 'BROKEN' : 'unclear'}: ${limit.text}`),
  ]
}
