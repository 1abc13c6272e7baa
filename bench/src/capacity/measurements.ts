import type { HostFacts, Point, Summary } from '../model/summary.js'
import { hasCost } from '../report/cost.js'
import { isValid, significant } from '../report/figures.js'
import { type PolicyCost, policyCosts } from '../report/policy-cost.js'
import { OURS } from '../report/rivals.js'

/** Scores of the same machine that are further apart than this are told. */
const SAME_SCORE = 0.1

/** What several runs on one kind of machine know together. */
export interface Measurements {
  /**
   * Of ours at saturation; of each scenario those of the newest run that has a result in all, and where no run has one
   * those whose CPU time is a result.
   */
  readonly points: readonly Point[]
  /** Of each policy and call the newest; both of its points are of one run. */
  readonly policyCosts: readonly PolicyCost[]
  /** Of the newest run. */
  readonly host: HostFacts
  readonly notes: readonly string[]
}

/**
 * Puts runs together.
 * @throws Error when there is none, or they are of different processors: a microsecond of one is none of another.
 */
export function measurementsOf(summaries: readonly Summary[]): Measurements {
  const [newest, ...others] = summaries.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
  if (newest === undefined) throw new Error('there is no run to answer from')
  const stranger = others.find(({ host }) => host.cpuModel !== newest.host.cpuModel)
  if (stranger !== undefined)
    throw new Error(
      `the runs ${newest.id} (${newest.host.cpuModel}) and ${stranger.id} (${stranger.host.cpuModel}) are of different processors, whose microseconds differ; name the runs of one with --from`,
    )
  const costs = [newest, ...others].map(({ points }) => points.filter(isEvidence))
  const runs = [...costs.map((points) => points.filter(isValid)), ...costs]
  return {
    points: newestOf(runs, ({ suite, scenario }) => `${suite} ${scenario}`),
    policyCosts: newestOf(
      runs.map(policyCosts),
      ({ policy, withPolicy }) => `${policy} ${withPolicy.bodyBytes}`,
    ),
    host: newest.host,
    notes: scoreNotes(summaries),
  }
}

function isEvidence(point: Point): boolean {
  return hasCost(point) && point.contestant === OURS && point.kind === 'saturation'
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

function scoreNotes(summaries: readonly Summary[]): string[] {
  const scores = summaries.map(({ host }) => host.cpuScore)
  const [least, most] = [Math.min(...scores), Math.max(...scores)]
  if (most <= least * (1 + SAME_SCORE)) return []
  return [
    `the machine was not equally fast in all of these runs (score ${significant(least)} to ${significant(most)}): their microseconds are as uncertain`,
  ]
}
