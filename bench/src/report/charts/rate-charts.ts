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
  return [...groups.values()].map(chartOf)
}

const STEPS = [50, 90, 99, 99.9]

function chartOf(points: readonly Point[]): LineChart {
  const { title, connections, latency } = points[0]!
  const rivals = contestantsOf(points)
  const lines =
    rivals.length > 1
      ? rivals.map((name) =>
          lineOf(
            name,
            points.filter(({ contestant }) => contestant === name),
            99,
          ),
        )
      : STEPS.map((step) => lineOf(`P${step}`, points, step))
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
    lines,
  }
}

function lineOf(name: string, points: readonly Point[], percentile: number): Line {
  const measured = points.map(({ targetPerSecond, perSecond, latency }) => ({
    x: targetPerSecond ?? perSecond.mean,
    y: percentileOf(latency, percentile) ?? Number.NaN,
    range: null,
  }))
  return { name, isDashed: false, points: measured.filter(({ y }) => Number.isFinite(y)) }
}
