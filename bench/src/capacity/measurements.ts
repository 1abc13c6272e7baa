import { OURS } from '../model/run.js'
import type { HostFacts, Summary } from '../model/summary.js'
import { type CostPoint, hasCost, type PolicyCost, policyCosts } from '../report/cost.js'
import { isValid } from '../report/figures.js'
import { groupedBy } from '../report/relations.js'
import { lineThrough } from '../statistics.js'

/** What several runs on one kind of machine know together. */
export interface Measurements {
  /** Of ours at saturation; of each scenario those of the newest run that has a result, or else a CPU time. */
  readonly points: readonly CostPoint[]
  /** Of each policy and size the newest; both of its points are of one run. */
  readonly policyCosts: readonly PolicyCost[]
  /** Of the newest run. */
  readonly host: HostFacts
}

/** @throws Error when there is none, or they are of different processors: a microsecond of one is none of another. */
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

/** Of each key all that the first list with it has. */
function newestOf<T>(lists: readonly (readonly T[])[], keyOf: (one: T) => string): T[] {
  const seen = new Set<string>()
  return lists.flatMap((list) => {
    const fresh = list.filter((one) => !seen.has(keyOf(one)))
    for (const one of fresh) seen.add(keyOf(one))
    return fresh
  })
}

/**
 * What connections take of the memory of a gateway, as resident memory at saturation grew with them: from the scenario
 * whose numbers of connections lie furthest apart. Null: no two were measured.
 */
export function connectionMemory(points: readonly CostPoint[]) {
  const known = points.filter((point) => isValid(point) && point.rssBytes !== null)
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
