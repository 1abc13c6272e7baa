import { formatSize } from '@sluice/core'
import type { Tier } from '../model/scenario.js'
import type { Point, Summary } from '../model/summary.js'
import { countText, isValid, significant } from '../report/figures.js'
import { OURS } from '../report/rivals.js'
import { isPlainProxy } from '../report/scenario-relation.js'
import { costOfBody } from './body-cost.js'
import { capacityLines } from './capacity-lines.js'
import type { CapacityWish, CostShare, Evidence, WholeWish } from './evidence.js'
import { HEADROOM } from './headroom.js'
import { costOfPolicies } from './policy-share.js'
import { type GuideRow, tierGuide } from './tier-guide.js'
import { wholeWish } from './whole-wish.js'

/** What it takes, and how that is known. */
export interface CapacityAnswer {
  readonly wish: WholeWish
  /** Null: the run does not hold what an answer needs; `missing` says what to measure. */
  readonly size: CapacitySize | null
  readonly missing: readonly string[]
  /** The measurements that the answer rests on. */
  readonly usedPoints: readonly string[]
  /** Where it goes beyond them, and what it does not cover. */
  readonly notes: readonly string[]
  /** All of it for people, ready to print. */
  readonly lines: readonly string[]
}

export interface CapacitySize {
  readonly tier: Tier
  readonly replicas: number
  /** With headroom. */
  readonly cores: number
  readonly microsPerRequest: number
  /** What the microseconds are made of. */
  readonly shares: readonly CostShare[]
  /** Load to tier, for this kind of request. */
  readonly guide: readonly GuideRow[]
}

/** What a load needs, from measured points that are results. */
export function capacityFor(summary: Summary, asked: CapacityWish): CapacityAnswer {
  const results = summary.points.filter(
    (point) => isValid(point) && point.contestant === OURS && point.kind === 'saturation',
  )
  const proxies = results.filter(isPlainProxy)
  const wish = wholeWish(asked, proxies)
  const plain = proxies.filter((point) => isRequestLike(point, wish))
  const logged = plain.filter(({ log }) => log === wish.log)
  const evidence = merged([costOfBody(logged, plain, wish), costOfPolicies(results, wish)])
  const size = evidence.missing.length > 0 ? null : sizeOf(logged, evidence, wish)
  const answer = {
    wish,
    size,
    missing: evidence.missing,
    usedPoints: [...new Set(evidence.usedPoints.map(nameOf))],
    notes: size === null ? [] : [...evidence.notes, ...tierNotes(size), ...scopeNotes(summary, wish)],
  }
  return { ...answer, lines: capacityLines(answer) }
}

function sizeOf(points: readonly Point[], { shares }: Evidence, wish: WholeWish): CapacitySize {
  const microsPerRequest = shares.reduce((sum, { micros }) => sum + micros, 0)
  const guide = tierGuide(points, microsPerRequest)
  const largest = guide.at(-1)!
  const fitting = guide.find(({ upToPerSecond }) => upToPerSecond >= wish.perSecond) ?? largest
  return {
    tier: fitting.tier,
    replicas: Math.max(1, Math.ceil(wish.perSecond / fitting.upToPerSecond - 1e-9)),
    cores: (wish.perSecond * microsPerRequest) / 1_000_000 / (1 - HEADROOM),
    microsPerRequest,
    shares,
    guide,
  }
}

/** A request without a body costs less than any with one, so neither speaks for the other. */
function isRequestLike({ method }: Point, wish: WholeWish): boolean {
  return (method === 'GET') === (wish.method === 'GET')
}

function merged(parts: readonly Evidence[]): Evidence {
  return {
    shares: parts.flatMap(({ shares }) => shares),
    usedPoints: parts.flatMap(({ usedPoints }) => usedPoints),
    notes: parts.flatMap(({ notes }) => notes),
    missing: parts.flatMap(({ missing }) => missing),
  }
}

function tierNotes({ guide }: CapacitySize): string[] {
  const guessed = guide.filter(({ isMeasured }) => !isMeasured).map(({ tier }) => tier)
  if (guessed.length === 0) return []
  return [`${guessed.join(', ')} not measured: extrapolated from the CPU time of a request and the cores`]
}

function scopeNotes({ host }: Summary, { log }: WholeWish): string[] {
  const off = log === 'none' ? ['the traffic log is off in this figure'] : []
  const headroom = `${HEADROOM * 100} % headroom is included; scale out at ${100 - HEADROOM * 100} % of the CPU`
  const machine = `measured on ${host.cpuModel}, score ${significant(host.cpuScore)}: scale by the score of the target’s cores`
  return [...off, headroom, machine]
}

function nameOf({ suite, title, connections, workers, bodyBytes }: Point): string {
  const body = bodyBytes === 0 ? '' : `, body ${formatSize(bodyBytes)}`
  return `${suite}: ${title}, ${countText(connections)} connections, ${workers} ${workers === 1 ? 'worker' : 'workers'}${body}`
}
