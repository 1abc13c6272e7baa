import type { Point } from '../../model/summary.js'
import type { Line, LineChart } from '../chart/chart.js'
import { countText, isValid, microsText, percentileOf } from '../figures.js'
import { contestantsOf } from '../rivals.js'
import { groupedBy } from '../scenario-relation.js'

/** Latency against the rate, where it was held: what users see, and where it begins to rise. */
export function rateCharts(points: readonly Point[]): LineChart[] {
  const results = points.filter(
    (point) => isValid(point) && point.kind === 'fixed-rate' && point.latency !== null,
  )
  const groups = groupedBy(results, ({ scenario, connections }) => `${scenario} ${connections}`)
  return [...groups.values()].map((group) => chartOf(group, contestantsOf(points)))
}

const STEPS = [50, 90, 99, 99.9]

function chartOf(points: readonly Point[], rivals: readonly string[]): LineChart {
  const { title, connections, latency } = points[0]!
  const lines =
    rivals.length > 1
      ? rivals.map((name, style) => lineOf({ name, style, percentile: 99 }, ofContestant(points, name)))
      : STEPS.map((step, style) => lineOf({ name: `P${step}`, style, percentile: step }, points))
  const corrected =
    latency?.isCorrected === true ? 'counted from the planned time of sending' : 'NOT corrected'
  return {
    kind: 'lines',
    title: `${title}: latency against rate`,
    description: `${rivals.length > 1 ? 'P99' : 'Percentiles'} at rates that were held, ${countText(connections)} connections, ${corrected}.`,
    xLabel: 'requests/s',
    yLabel: 'latency',
    xScale: 'linear',
    yScale: 'log',
    xText: countText,
    yText: microsText,
    lines: lines.filter((line) => line.points.length > 0),
  }
}

function ofContestant(points: readonly Point[], name: string): Point[] {
  return points.filter(({ contestant }) => contestant === name)
}

interface LineWish {
  readonly name: string
  readonly style: number
  readonly percentile: number
}

function lineOf({ name, style, percentile }: LineWish, points: readonly Point[]): Line {
  const measured = points.map(({ targetPerSecond, perSecond, latency }) => ({
    x: targetPerSecond ?? perSecond.mean,
    y: percentileOf(latency, percentile) ?? Number.NaN,
    range: null,
  }))
  return { name, style, isDashed: false, points: measured.filter(({ y }) => Number.isFinite(y)) }
}
