import type { Point } from '../../model/summary.js'
import type { Line, LineChart } from '../chart/chart.js'
import { countText, isValid, microsText, significant } from '../figures.js'
import { contestantsOf } from '../rivals.js'
import { groupedBy } from '../scenario-relation.js'
import { panelsOf } from './panels.js'

/** Latency over the percentiles: at held rates where there are any, else at overload, and never both in one chart. */
export function spectrumCharts(points: readonly Point[]): LineChart[] {
  const results = points.filter((point) => isValid(point) && point.latency !== null)
  const contestants = contestantsOf(points)
  const held = results.filter(({ kind }) => kind === 'fixed-rate')
  return held.length > 0 ? rateSpectra(held, contestants) : overloadSpectra(results, contestants)
}

function rateSpectra(points: readonly Point[], contestants: readonly string[]): LineChart[] {
  const hasRivals = contestants.length > 1
  const groups = [...groupedBy(points, ({ scenario, connections }) => `${scenario} ${connections}`).values()]
  return groups.map((group) => {
    const { title, connections } = group[0]!
    const shown = hasRivals ? highestOfEach(group) : group
    return chartOf(
      `${title}: percentiles`,
      `Latency at ${hasRivals ? 'the highest rate that was held' : 'rates that were held'}, ${countText(connections)} connections.`,
      shown.map((point, i) => {
        const rate = `${countText(point.targetPerSecond ?? 0)}/s`
        return hasRivals
          ? lineOf(`${point.contestant} at ${rate}`, contestants.indexOf(point.contestant), point)
          : lineOf(rate, i, point)
      }),
    )
  })
}

function overloadSpectra(points: readonly Point[], contestants: readonly string[]): LineChart[] {
  return panelsOf(points, contestants).map((panel) => {
    const widest = [...panel.lines].map(([name, members]) =>
      lineOf(name, panel.names.indexOf(name), widestOf(members)),
    )
    const text =
      'Latency at overload with the most connections measured: the length of the line, not what users would see.'
    return chartOf(`${panel.title}: percentiles at overload`, text, widest)
  })
}

function widestOf(points: readonly Point[]): Point {
  return points.reduce((best, point) => (point.connections > best.connections ? point : best))
}

function highestOfEach(points: readonly Point[]): Point[] {
  const byName = groupedBy(points, ({ contestant }) => contestant)
  return [...byName.values()].map((group) =>
    group.reduce((best, point) =>
      (point.targetPerSecond ?? 0) > (best.targetPerSecond ?? 0) ? point : best,
    ),
  )
}

function lineOf(name: string, style: number, { latency }: Point): Line {
  const steps = (latency?.percentiles ?? []).filter(({ percentile }) => percentile >= 50 && percentile < 100)
  return {
    name,
    style,
    isDashed: false,
    points: steps.map(({ percentile, micros }) => ({ x: percentile, y: micros, range: null })),
  }
}

function chartOf(title: string, description: string, lines: readonly Line[]): LineChart {
  return {
    kind: 'lines',
    title,
    description,
    xLabel: 'percentile',
    yLabel: 'latency',
    xScale: 'percentile',
    yScale: 'log',
    xText: percentileText,
    yText: microsText,
    lines,
  }
}

/** `99.99`, which three digits would round up to 100. */
function percentileText(percentile: number): string {
  return percentile < 99 ? significant(percentile) : String(percentile)
}
