import type { Tier } from '../model/scenario.js'
import type { Point } from '../model/summary.js'
import { TIERS } from '../report/tier.js'
import { HEADROOM } from './headroom.js'

/** One line of the guide: this tier is for loads up to that rate. */
export interface GuideRow {
  readonly tier: Tier
  readonly cores: number
  readonly memoryBytes: number
  /** What it does at saturation. */
  readonly perSecond: number
  /** With headroom; the load to plan with. */
  readonly upToPerSecond: number
  /** Whether the tier itself was measured, with whatever body. */
  readonly isMeasured: boolean
}

/** What each tier does with requests of such a cost, from how much of its cores' time it turned into requests. */
export function tierGuide(points: readonly Point[], microsPerRequest: number): GuideRow[] {
  const yields = points.map(yieldOf)
  const least = Math.min(1, ...yields)
  return TIERS.map(({ tier, cores, memoryBytes }) => {
    const own = points.filter((point) => point.tier === tier)
    const share = own.length === 0 ? least : Math.max(...own.map(yieldOf))
    const perSecond = (cores * 1_000_000 * Math.min(1, share)) / microsPerRequest
    return {
      tier,
      cores,
      memoryBytes,
      perSecond,
      upToPerSecond: perSecond * (1 - HEADROOM),
      isMeasured: own.length > 0,
    }
  })
}

/** The share of the time of its cores that a point spent on requests: what is missing waited. */
function yieldOf({ perSecond, cpuMicrosPerRequest, workers }: Point): number {
  return (perSecond.mean * cpuMicrosPerRequest.mean) / (workers * 1_000_000)
}
