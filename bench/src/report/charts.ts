import { OURS } from '../model/run.js'
import { percentileOf } from '../model/spectrum.js'
import type { Point } from '../model/summary.js'
import { policyText } from '../suite/policies.js'
import { comparablePoints, policyCosts } from './cost.js'
import { countText, hasFigures, isValid, MARK, requestText } from './figures.js'
import { predictionsOf, type ScalingPrediction } from './predictions.js'
import { familyOf, groupedBy, systemsOf, withoutLog } from './relations.js'

/** A chart of the page, with its Chart.js configuration. */
export interface Chart {
  readonly title: string
  readonly description: string
  readonly config: object
}

interface Line {
  readonly name: string
  /** System, which decides the colour. */
  readonly system: string
  /** True for lines that were not measured. All other lines of their chart are solid. */
  readonly isDashed?: boolean
  readonly points: readonly { readonly x: number | string; readonly y: number | null }[]
}

interface Axes {
  readonly x: string
  readonly y: string
  readonly xType?: 'linear' | 'logarithmic' | 'category'
  readonly yType?: 'linear' | 'logarithmic'
}

interface Bars {
  readonly label: string
  readonly values: Readonly<Record<string, number>>
}

/** Colours of the systems in all charts, with a contrast of at least 3 on both backgrounds. */
const COLORS: Readonly<Record<string, string>> = {
  ...{ [OURS]: '#3b82d6', nginx: '#d06a1c', haproxy: '#2f9e63', envoy: '#a162d8', redis: '#d64562' },
  ...{ target: '#8a7a1f', ideal: '#808891' },
}
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]]
const OPACITIES = ['', 'a0', '60']
const MARKERS = ['circle', 'rect', 'triangle', 'rectRot']
/** Bars and lines do not show marks, so the description refers to the tables. */
const WARNING_REMARK = `Includes figures with warnings, which the tables mark with ${MARK}.`

/** Returns all charts of a run. Figures with warnings are included. */
export function chartsOf(points: readonly Point[]): Chart[] {
  const hasWarnings = points.some((point) => hasFigures(point) && !isValid(point))
  const charts = allCharts(points)
  if (!hasWarnings) return charts
  return charts.map((chart) => ({ ...chart, description: `${chart.description} ${WARNING_REMARK}` }))
}

function allCharts(points: readonly Point[]): Chart[] {
  const shown = points.filter(hasFigures)
  const saturated = shown.filter(({ kind }) => kind === 'saturation')
  const held = shown.filter(({ kind, latency }) => kind === 'fixed-rate' && latency !== null)
  return [
    ...costChart(points),
    ...throughputCharts(saturated),
    ...rateCharts(held),
    ...logChart(saturated),
    ...scalingChart(saturated, predictionsOf(points)),
    ...policyChart(points),
    ...spectrumCharts(held.length > 0 ? held : saturated),
  ]
}

/** Colours datasets by system. Several of one system differ in dashes or markers, and opacity. Other series are our system's. */
function painted<T extends Pick<Line, 'system' | 'isDashed'>>(datasets: readonly T[]): object[] {
  const colors = datasets.map(({ system }) => COLORS[system] ?? COLORS[OURS]!)
  return datasets.map((dataset, at) => {
    const i = colors.slice(0, at).filter((color) => color === colors[at]).length
    const { isDashed } = dataset
    const dash = isDashed === undefined ? DASHES[i % DASHES.length] : isDashed ? DASHES[1] : []
    const marker = isDashed === undefined ? {} : { pointStyle: MARKERS[i % MARKERS.length] }
    const line = { borderColor: colors[at], borderDash: dash, ...marker }
    return { ...dataset, ...line, backgroundColor: colors[at] + OPACITIES[i % OPACITIES.length]! }
  })
}

/** CPU time per request of each system, at the largest number of connections of each scenario. */
function costChart(points: readonly Point[]): Chart[] {
  const samples = comparablePoints(points).map((group) => [...group.values()])
  const largest = groupedBy(samples, ([sample]) => sample!.scenario).map((group) => group.at(-1)!)
  const bars = largest.map((group) => ({
    label: labelOf(group[0]!),
    values: Object.fromEntries(
      group.map(({ system, cpuMicrosPerRequest }) => [system, cpuMicrosPerRequest.mean]),
    ),
  }))
  const description =
    'User and system time of all processes per completed request, in the same run. Lower is better.'
  return barChart({ title: 'CPU time of a request', description }, 'µs of CPU per request', bars)
}

/** Throughput by number of connections, with tiers, logs and systems of one request in one chart. */
function throughputCharts(points: readonly Point[]): Chart[] {
  const hasPeers = systemsOf(points).length > 1
  const nameOf = ({ title, system }: Point): string => (hasPeers ? `${title}, ${system}` : title)
  const families = groupedBy(points, familyOf)
  const curves = families.filter((group) => new Set(group.map(({ connections }) => connections)).size > 1)
  const single = families.filter((group) => !curves.includes(group)).flat()
  const description = 'Requests per second at saturation, mean of the repetitions.'
  const bars = groupedBy(single, labelOf).map((group) => ({
    label: labelOf(group[0]!),
    values: Object.fromEntries(group.map(({ system, perSecond }) => [system, perSecond.mean])),
  }))
  return [
    ...barChart({ title: 'Throughput', description }, 'requests/s', bars),
    ...curves.map((group) =>
      lineChart(
        { title: `${requestText(group[0]!)}: throughput`, description },
        { x: 'connections', y: 'requests/s', xType: 'logarithmic' },
        groupedBy(group, nameOf).map((line) => ({
          name: nameOf(line[0]!),
          system: line[0]!.system,
          points: line.map(({ connections, perSecond }) => ({ x: connections, y: perSecond.mean })),
        })),
      ),
    ),
  ]
}

/** Latency by rate, which shows where it begins to rise. */
function rateCharts(points: readonly Point[]): Chart[] {
  const systems = systemsOf(points)
  return groupedBy(points, labelOf).map((group) => {
    const lines =
      systems.length > 1
        ? systems.map((name) =>
            rateLine(
              name,
              group.filter(({ system }) => system === name),
              99,
            ),
          )
        : [50, 90, 99, 99.9].map((percentile) => rateLine(`P${percentile}`, group, percentile))
    const what = systems.length > 1 ? 'P99' : 'Percentiles'
    const isCorrected = group.every(({ latency }) => latency?.isCorrected === true)
    return lineChart(
      {
        title: `${labelOf(group[0]!)}: latency against rate`,
        description: `${what} at rates that were held, ${isCorrected ? 'counted from the planned time of sending' : 'NOT corrected'}.`,
      },
      { x: 'requests/s', y: 'ms', yType: 'logarithmic' },
      lines,
    )
  })
}

function rateLine(name: string, points: readonly Point[], percentile: number): Line {
  return {
    name,
    system: points[0]?.system ?? '',
    points: points.map(({ targetPerSecond, latency }) => ({
      x: targetPerSecond ?? 0,
      y: millis(percentileOf(latency, percentile)),
    })),
  }
}

/** Cost of the traffic log: the same scenario with and without it. */
function logChart(points: readonly Point[]): Chart[] {
  const pairs = groupedBy(points, (point) => `${withoutLog(point)} ${point.system} ${point.connections}`)
  const bars = pairs
    .filter((pair) => pair.length === 2)
    .map((pair) => ({
      label: labelOf(pair.find(({ log }) => log === 'none')!),
      values: Object.fromEntries(
        pair.map(({ log, perSecond }) => [
          log === 'none' ? 'log off' : 'log in Elasticsearch',
          perSecond.mean,
        ]),
      ),
    }))
  const description = 'Requests per second at saturation with the traffic log off and in Elasticsearch.'
  return barChart({ title: 'Traffic log off and on', description }, 'requests/s', bars)
}

/** Throughput by tier, each line at the number of connections that most tiers share, and predictions. */
function scalingChart(points: readonly Point[], predictions: readonly ScalingPrediction[]): Chart[] {
  const ours = points.filter(({ system, tier }) => system === OURS && tier !== null)
  const lines = groupedBy(ours, (point) => `${familyOf(point)} ${point.log}`).flatMap((family): Line[] => {
    const sets = groupedBy(family, ({ connections }) => String(connections))
    const tiers = sets.toSorted((a, b) => b.length - a.length || b[0]!.connections - a[0]!.connections)[0]!
    if (tiers.length < 2) return []
    const sorted = tiers.toSorted((a, b) => a.workers - b.workers)
    const base = sorted[0]!.perSecond.mean / sorted[0]!.workers
    const name = labelOf(sorted[0]!).replace(/^W\d /, '')
    return [
      {
        ...{ name, system: OURS, isDashed: false },
        points: sorted.map(({ workers, perSecond }) => ({ x: workers, y: perSecond.mean / base })),
      },
    ]
  })
  lines.push(...predictions.flatMap(predictedLines))
  if (lines.length === 0) return []
  const cores = [...new Set(lines.flatMap((line) => line.points.map(({ x }) => Number(x))))].sort(
    (a, b) => a - b,
  )
  const ideal = { name: 'ideal', system: 'ideal', isDashed: true, points: cores.map((x) => ({ x, y: x })) }
  const description =
    'Throughput relative to a core of the smallest tier, at equal numbers of connections. Dashed lines are predictions.'
  const axes = { x: 'cores of the workers', y: 'times one core of the smallest tier' }
  return [lineChart({ title: 'Scaling over tiers', description }, axes, [...lines, ideal])]
}

/** Dashed lines of a prediction: its median, and the ends of its 95 % interval. */
function predictedLines({ name, measured, fit, workers }: ScalingPrediction): Line[] {
  const cores = [...measured.map((point) => point.workers), ...workers]
  return (['middle', 'high', 'low'] as const).map((end) => ({
    name: `${name}, predicted${{ middle: '', high: ', low', low: ', high' }[end]}`,
    ...{ system: OURS, isDashed: true },
    points: cores.map((x) => ({ x, y: (x * fit.costAt(1).middle) / fit.costAt(x)[end] })),
  }))
}

/** Cost of each policy, highest first. */
function policyChart(points: readonly Point[]): Chart[] {
  const costs = policyCosts(points).toSorted((a, b) => b.addedMicros - a.addedMicros)
  const bars = groupedBy(costs, ({ policy }) => policy).map((group) => ({
    label: policyText(group[0]!.policy),
    values: Object.fromEntries(
      group.map(({ withPolicy, addedMicros }) => [requestText(withPolicy), addedMicros]),
    ),
  }))
  const description = 'CPU time that a policy adds to a request, beside the same request without it.'
  return barChart({ title: 'What a policy costs', description }, 'µs of CPU per request', bars)
}

/** Latency by percentile, at fixed rates if there are any, else at overload, never both. */
function spectrumCharts(points: readonly Point[]): Chart[] {
  return groupedBy(points, labelOf).map((group) => {
    const isHeld = group[0]!.kind === 'fixed-rate'
    const lines = group.map(({ system, targetPerSecond, latency }) => ({
      name: isHeld ? `${system} at ${countText(targetPerSecond)}/s` : system,
      system,
      points: (latency?.percentiles ?? [])
        .filter(({ percentile }) => percentile >= 50)
        .map(({ percentile, micros }) => ({ x: String(percentile), y: millis(micros) })),
    }))
    const description = isHeld
      ? 'Latency at rates that were held.'
      : 'Latency at overload. It shows the length of the queue, not what users would see.'
    const axes = { x: 'percentile', y: 'ms', xType: 'category', yType: 'logarithmic' } as const
    return lineChart({ title: `${labelOf(group[0]!)}: percentiles`, description }, axes, lines)
  })
}

function lineChart(
  { title, description }: Omit<Chart, 'config'>,
  { x, y, xType = 'linear', yType = 'linear' }: Axes,
  lines: readonly Line[],
): Chart {
  const datasets = lines
    .filter(({ points }) => points.length > 0)
    .map(({ name, points, ...look }) => ({ label: name, ...look, data: points }))
  const scales = {
    x: { type: xType, title: { display: true, text: x } },
    y: { type: yType, title: { display: true, text: y }, beginAtZero: yType === 'linear' },
  }
  const hasMarkers = lines.some(({ isDashed }) => isDashed !== undefined)
  const plugins = { legend: { labels: { usePointStyle: hasMarkers } } }
  const config = { type: 'line', data: { datasets: painted(datasets) }, options: { scales, plugins } }
  return { title, description, config }
}

/** Returns a chart of horizontal bars, or none without values. */
function barChart({ title, description }: Omit<Chart, 'config'>, x: string, bars: readonly Bars[]): Chart[] {
  if (bars.length === 0) return []
  const series = [...new Set(bars.flatMap(({ values }) => Object.keys(values)))]
  const datasets = series.map((label) => ({
    label,
    system: label,
    data: bars.map(({ values }) => values[label] ?? null),
  }))
  const data = { labels: bars.map(({ label }) => label), datasets: painted(datasets) }
  const height = 90 + bars.length * (12 + series.length * 12)
  const options = { indexAxis: 'y', scales: { x: { title: { display: true, text: x } } } }
  return [{ title, description, config: { type: 'bar', data, options, height } }]
}

function labelOf({ title, connections }: Point): string {
  return `${title}, ${countText(connections)} conn.`
}

function millis(micros: number | null): number | null {
  return micros === null ? null : micros / 1000
}
