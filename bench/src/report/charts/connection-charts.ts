import type { Point } from '../../model/summary.js'
import type { BarChart, Chart, Line, LineChart, LinePoint } from '../chart/chart.js'
import { countText, isValid, microsText, percentileOf } from '../figures.js'
import { contestantsOf } from '../rivals.js'
import { groupedBy } from '../scenario-relation.js'
import { distinct, type Panel, panelsOf } from './panels.js'

/** Throughput, and latency at overload, against the number of connections; bars where only one number was measured. */
export function connectionCharts(points: readonly Point[]): Chart[] {
  const results = points.filter((point) => isValid(point) && point.kind === 'saturation')
  const contestants = contestantsOf(points)
  const panels = panelsOf(results, contestants)
  const curves = panels.filter((panel) => distinct(panel, ({ connections }) => connections) > 1)
  const single = panels
    .filter((panel) => !curves.includes(panel))
    .flatMap((panel) => [...panel.lines.values()].flat())
  return [...(single.length === 0 ? [] : [throughputBars(single, contestants)]), ...curves.flatMap(chartsOf)]
}

function chartsOf(panel: Panel): LineChart[] {
  const latency = lineChart(panel, {
    title: `${panel.title}: P99 at overload`,
    description:
      'How long the line is when everybody asks as fast as possible. It is no latency that users would see.',
    yLabel: 'P99',
    y: ({ latency }) => percentileOf(latency, 99),
    range: () => null,
    yText: microsText,
    yScale: 'log',
  })
  const throughput = lineChart(panel, {
    title: `${panel.title}: throughput`,
    description:
      'Requests a second at saturation; mean of the repetitions, with the smallest and the largest.',
    yLabel: 'requests/s',
    y: ({ perSecond }) => perSecond.mean,
    range: ({ perSecond }) => [perSecond.min, perSecond.max],
    yText: countText,
    yScale: 'linear',
  })
  return latency.lines.length === 0 ? [throughput] : [throughput, latency]
}

interface Figure extends Pick<LineChart, 'title' | 'description' | 'yLabel' | 'yText' | 'yScale'> {
  y(point: Point): number | null
  range(point: Point): LinePoint['range']
}

function lineChart(panel: Panel, figure: Figure): LineChart {
  const lines = [...panel.lines].map(([name, points]): Line => {
    const measured = points.flatMap((point): LinePoint[] => {
      const y = figure.y(point)
      return y === null ? [] : [{ x: point.connections, y, range: figure.range(point) }]
    })
    return { name, style: panel.names.indexOf(name), isDashed: false, points: measured }
  })
  const { y: _y, range: _range, ...head } = figure
  return {
    ...head,
    kind: 'lines',
    xLabel: 'connections',
    xScale: 'log',
    xText: countText,
    lines: lines.filter((line) => line.points.length > 0),
  }
}

function throughputBars(points: readonly Point[], series: readonly string[]): BarChart {
  const groups = [...groupedBy(points, ({ scenario, connections }) => `${scenario} ${connections}`).values()]
  return {
    kind: 'bars',
    title: 'Throughput',
    description:
      'Requests a second at saturation; mean of the repetitions, with the smallest and the largest.',
    xLabel: 'requests/s',
    xText: countText,
    series,
    groups: groups.map((group) => ({
      label: `${group[0]!.title}, ${countText(group[0]!.connections)} conn.`,
      bars: group.map(({ contestant, perSecond }) => ({
        series: contestant,
        value: perSecond.mean,
        range: [perSecond.min, perSecond.max],
        note: '',
      })),
    })),
  }
}
