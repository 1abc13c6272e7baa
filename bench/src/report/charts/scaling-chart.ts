import type { Point } from '../../model/summary.js'
import type { Line, LineChart } from '../chart/chart.js'
import { countText, isValid, significant } from '../figures.js'
import { OURS } from '../rivals.js'
import { groupedBy, tierFamily } from '../scenario-relation.js'

/**
 * How throughput grows with the tier, at equal numbers of connections; null: no scenario was measured in two tiers so.
 * Comparing tiers at different numbers of connections would credit the larger ones with the larger load.
 */
export function scalingChart(points: readonly Point[]): LineChart | null {
  const results = points.filter(
    (point) =>
      isValid(point) && point.kind === 'saturation' && point.contestant === OURS && point.tier !== null,
  )
  const families = [...groupedBy(results, (point) => tierFamily(point)!).values()]
  const lines = families.flatMap(lineOf).map((line, style) => ({ ...line, style }))
  if (lines.length === 0) return null
  const cores = [...new Set(lines.flatMap((line) => line.points.map(({ x }) => x)))].toSorted((a, b) => a - b)
  const ideal = cores.map((x) => ({ x, y: x, range: null }))
  return {
    kind: 'lines',
    title: 'Scaling over tiers',
    description:
      'Throughput relative to a core of the smallest tier, each line at one number of connections for all its tiers.',
    xLabel: 'cores of the workers',
    yLabel: 'times one core of the smallest tier',
    xScale: 'linear',
    yScale: 'linear',
    xText: countText,
    yText: significant,
    lines: [...lines, { name: 'ideal', style: lines.length, isDashed: true, points: ideal }],
  }
}

function lineOf(points: readonly Point[]): Line[] {
  const byConnections = [...groupedBy(points, ({ connections }) => String(connections)).values()]
  const [widest] = byConnections.toSorted(
    (a, b) => b.length - a.length || b[0]!.connections - a[0]!.connections,
  )
  if (widest === undefined || widest.length < 2) return []
  const sorted = widest.toSorted((a, b) => a.workers - b.workers)
  const base = sorted[0]!.perSecond.mean / sorted[0]!.workers
  const name = `${sorted[0]!.title.replace(/^W\d /, '')}, ${countText(sorted[0]!.connections)} conn.`
  const measured = sorted.map(({ workers, perSecond }) => ({
    x: workers,
    y: perSecond.mean / base,
    range: [perSecond.min / base, perSecond.max / base] as const,
  }))
  return [{ name, style: 0, isDashed: false, points: measured }]
}
