import type { Point } from '../../model/summary.js'
import type { BarChart, BarGroup } from '../chart/chart.js'
import { changeText, countText, isValid, significant } from '../figures.js'
import { withoutLog } from '../scenario-relation.js'

const [OFF, ON] = ['log off', 'log in Elasticsearch']

/** What the traffic log costs: the same scenario with it and without, at the same connections; null: not measured. */
export function logChart(points: readonly Point[]): BarChart | null {
  const results = points.filter((point) => isValid(point) && point.kind === 'saturation')
  const logged = results.filter(({ log }) => log === 'elasticsearch')
  const groups = bestOfEach(logged).flatMap((on) => groupOf(on, results))
  if (groups.length === 0) return null
  return {
    kind: 'bars',
    title: 'Traffic log off and on',
    description:
      'Requests a second at saturation with the traffic log off and in Elasticsearch, the same connections, where the log’s throughput is best; with the change and the CPU time of a request.',
    xLabel: 'requests/s',
    xText: countText,
    series: [OFF, ON],
    groups,
  }
}

function bestOfEach(points: readonly Point[]): Point[] {
  const best = new Map<string, Point>()
  for (const point of points) {
    const key = `${point.scenario} ${point.contestant}`
    const known = best.get(key)
    if (known === undefined || known.perSecond.mean < point.perSecond.mean) best.set(key, point)
  }
  return [...best.values()]
}

function groupOf(on: Point, results: readonly Point[]): BarGroup[] {
  const off = results.find(
    (point) =>
      point.log === 'none' &&
      point.scenario === withoutLog(on) &&
      point.contestant === on.contestant &&
      point.connections === on.connections,
  )
  if (off === undefined) return []
  const change = changeText(on.perSecond.mean / off.perSecond.mean - 1)
  const bar = (series: string, point: Point, more: string): BarGroup['bars'][number] => ({
    series,
    value: point.perSecond.mean,
    range: [point.perSecond.min, point.perSecond.max],
    note: `${more}(${significant(point.cpuMicrosPerRequest.mean)} µs)`,
  })
  return [
    {
      label: `${off.title}, ${countText(on.connections)} conn.`,
      bars: [bar(OFF, off, ''), bar(ON, on, `${change} `)],
    },
  ]
}
