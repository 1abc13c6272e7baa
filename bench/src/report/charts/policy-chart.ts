import type { Point } from '../../model/summary.js'
import { policyText } from '../../suite/chains.js'
import type { BarChart } from '../chart/chart.js'
import { busyText } from '../cost.js'
import { changeText, countText, requestText, significant } from '../figures.js'
import { type PolicyCost, policyCosts } from '../policy-cost.js'

/** What each policy adds to a request, the dearest first; null: no policy was measured with and without. */
export function policyChart(points: readonly Point[]): BarChart | null {
  const costs = policyCosts(points)
  if (costs.length === 0) return null
  const hasOnePlace = new Set(costs.map(placeOf)).size === 1
  const groups = new Map<string, PolicyCost[]>()
  for (const cost of costs) {
    const name = policyText(cost.policy) + (hasOnePlace ? '' : ` (${placeOf(cost)})`)
    groups.set(name, [...(groups.get(name) ?? []), cost])
  }
  const dearest = [...groups].toSorted(([, a], [, b]) => most(b) - most(a))
  return {
    kind: 'bars',
    title: 'What a policy costs',
    description:
      'CPU time that a policy adds to a request, beside the same request without it; the thin line is what the repetitions allow.',
    xLabel: 'µs of CPU a request',
    xText: significant,
    series: [...new Set(costs.map(seriesName))],
    groups: dearest.map(([label, members]) => ({
      label,
      bars: members.map((cost) => ({
        series: seriesName(cost),
        value: cost.addedMicros,
        range: cost.range,
        note: `µs${busyText(cost.withPolicy)} (${changeText(cost.addedMicros / cost.base.cpuMicrosPerRequest.mean)})`,
      })),
    })),
  }
}

function placeOf({ withPolicy }: PolicyCost): string {
  const tier = withPolicy.tier === null ? '' : `${withPolicy.tier}, `
  return `${tier}${countText(withPolicy.connections)} conn.`
}

function seriesName({ withPolicy }: PolicyCost): string {
  return requestText(withPolicy)
}

function most(costs: readonly PolicyCost[]): number {
  return Math.max(...costs.map(({ addedMicros }) => addedMicros))
}
