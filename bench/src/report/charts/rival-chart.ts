import type { Point } from '../../model/summary.js'
import type { BarChart } from '../chart/chart.js'
import { busyText, hasCost } from '../cost.js'
import { countText, ratioText, significant } from '../figures.js'
import { contestantsOf, cpuRatio, OURS, rivalries } from '../rivals.js'
import { groupedBy } from '../scenario-relation.js'

/** CPU time of a request, contestants side by side; null: only one took part. */
export function rivalChart(points: readonly Point[]): BarChart | null {
  const found = rivalries(points, hasCost)
  if (found.length === 0) return null
  const samples = found.map(({ sample }) => sample)
  const series = contestantsOf(points)
  const best = [...groupedBy(samples, ({ scenario }) => scenario).keys()].map(
    (scenario) => found.filter(({ sample }) => sample.scenario === scenario).at(-1)!,
  )
  return {
    kind: 'bars',
    title: 'CPU time of a request',
    description: `User and system time of the process tree over completed requests, in the same run; the factor is ${OURS} over the other, below 1 it needs less, and there is none where they were not busy alike. Each scenario at its largest number of connections.`,
    xLabel: 'µs of CPU a request; less is better',
    xText: significant,
    series,
    groups: best.map(({ sample, points: members }) => ({
      label: `${sample.title}, ${countText(sample.connections)} conn.`,
      bars: series.flatMap((name) => {
        const point = members.get(name)
        if (point === undefined) return []
        const { mean, min, max } = point.cpuMicrosPerRequest
        const ratio = name === OURS ? Number.NaN : cpuRatio({ sample, points: members }, name)
        const factor = Number.isFinite(ratio) ? ` (ours: ${ratioText(ratio)} ×)` : ''
        const note = `µs${busyText(point)}${factor}`
        return [{ series: name, value: mean, range: [min, max] as const, note }]
      }),
    })),
  }
}
