import { lineThrough } from '../lib/statistics.js'
import { OURS } from '../model/run.js'
import type { HostFacts, Summary } from '../model/summary.js'
import { type CostPoint, hasCost, type PolicyCost, policyCosts } from '../report/cost.js'
import { hasFigures, isValid } from '../report/figures.js'
import { groupedBy } from '../report/relations.js'

/** Combined results of several runs on one kind of machine. */
export interface Measurements {
  /** Points of the gateway at saturation, from the newest valid run of each scenario. */
  readonly points: readonly CostPoint[]
  /** Newest cost of each policy and size. Both points come from the same run. */
  readonly policyCosts: readonly PolicyCost[]
  /** Machine of the newest run. */
  readonly host: HostFacts
}

/** Combines runs. @throws Error if there are none, or if their processors differ */
export function measurementsOf(summaries: readonly Summary[]): Measurements {
  const [newest, ...others] = summaries.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
  if (newest === undefined) throw new Error('there is no run to answer from')
  const other = others.find(({ host }) => host.cpuModel !== newest.host.cpuModel)
  if (other !== undefined)
    throw new Error(
      `the runs ${newest.id} (${newest.host.cpuModel}) and ${other.id} (${other.host.cpuModel}) are of different processors; name the runs of one with --from`,
    )
  const costs = [newest, ...others].map(({ points }) =>
    points.filter(hasCost).filter(({ system, kind }) => system === OURS && kind === 'saturation'),
  )
  const runs = [...costs.map((points) => points.filter(isValid)), ...costs]
  return {
    points: newestOf(runs, ({ suite, scenario }) => `${suite} ${scenario}`),
    policyCosts: newestOf(
      runs.map(policyCosts),
      ({ policy, withPolicy }) => `${policy} ${withPolicy.bodyBytes}`,
    ),
    host: newest.host,
  }
}

/** Returns all items of each key from the first list that has it. */
function newestOf<T>(lists: readonly (readonly T[])[], keyOf: (one: T) => string): T[] {
  const seen = new Set<string>()
  return lists.flatMap((list) => {
    const fresh = list.filter((one) => !seen.has(keyOf(one)))
    for (const one of fresh) seen.add(keyOf(one))
    return fresh
  })
}

/**
 * Returns the memory per connection: growth of resident memory at saturation, for the scenario with the widest range
 * of connections. Null if fewer than two were measured.
 */
export function connectionMemory(points: readonly CostPoint[]) {
  const known = points.filter((point) => hasFigures(point) && point.rssBytes !== null)
  const widest = groupedBy(known, ({ suite, scenario }) => `${suite} ${scenario}`)
    .map((group) => group.map(({ connections, rssBytes }) => [connections, rssBytes!] as const))
    .toSorted((a, b) => widthOf(b) - widthOf(a))[0]
  if (widest === undefined || widthOf(widest) === 0) return null
  const { slope, meanX, meanY } = lineThrough(widest)
  const growth = Math.max(0, slope)
  return { perThousandBytes: growth * 1000, baseBytes: Math.max(0, meanY - growth * meanX) }
}

function widthOf(pairs: readonly (readonly [number, number])[]): number {
  const counts = pairs.map(([count]) => count)
  return Math.max(...counts) - Math.min(...counts)
}
