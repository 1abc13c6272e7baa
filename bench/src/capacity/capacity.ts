import { formatSize } from '@sluice/core'
import type { Tier } from '../model/scenario.js'
import type { Point, Summary } from '../model/summary.js'
import { busyText } from '../report/cost.js'
import { countText, isValid, significant } from '../report/figures.js'
import { isPlainProxy } from '../report/scenario-relation.js'
import { type Autoscaler, autoscalerFor } from './autoscaler.js'
import { costOfBody } from './body-cost.js'
import { capacityLines } from './capacity-lines.js'
import { type CostTable, costTable } from './cost-table.js'
import type { CapacityWish, CostShare, Evidence, WholeWish } from './evidence.js'
import { HEADROOM } from './headroom.js'
import { type Measurements, measurementsOf } from './measurements.js'
import { type ConnectionMemory, connectionMemory } from './memory.js'
import { costOfPolicies } from './policy-share.js'
import { type GuideRow, tierGuide } from './tier-guide.js'
import { wholeWish } from './whole-wish.js'

/** What it takes, and how that is known. */
export interface CapacityAnswer {
  readonly wish: WholeWish
  /** Null: the runs do not hold what an answer needs; `missing` says what to measure. */
  readonly size: CapacitySize | null
  readonly missing: readonly string[]
  /** What other requests and policies cost, of all that was measured. */
  readonly costs: CostTable
  /** Null: it cannot be told. */
  readonly memory: ConnectionMemory | null
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
  readonly autoscaler: Autoscaler
}

/**
 * What a load needs, from measured points whose CPU time of a request is a result.
 * @throws Error when the runs cannot be put together
 */
export function capacityFor(summaries: readonly Summary[], asked: CapacityWish): CapacityAnswer {
  const measured = measurementsOf(summaries)
  const proxies = measured.points.filter(isPlainProxy)
  const wish = wholeWish(asked, proxies)
  const plain = proxies.filter((point) => isRequestLike(point, wish))
  const logged = plain.filter(({ log }) => log === wish.log)
  const evidence = merged([costOfBody(logged, plain, wish), costOfPolicies(measured.policyCosts, wish)])
  // Who is not full holds less: memory is known of whole results alone.
  const memory = connectionMemory(proxies.filter(isValid))
  const size = evidence.missing.length > 0 ? null : sizeOf(logged, evidence, { wish, memory })
  const answer = {
    wish,
    size,
    missing: evidence.missing,
    usedPoints: [...new Set(evidence.usedPoints.map(nameOf))],
    costs: costTable(measured),
    memory,
    notes:
      size === null
        ? []
        : [...evidence.notes, ...costNotes(evidence), ...tierNotes(size), ...scopeNotes(measured, wish)],
  }
  return { ...answer, lines: capacityLines(answer) }
}

/** What a size depends on besides the evidence. */
interface Demand {
  readonly wish: WholeWish
  readonly memory: ConnectionMemory | null
}

function sizeOf(points: readonly Point[], { shares }: Evidence, { wish, memory }: Demand): CapacitySize {
  const microsPerRequest = shares.reduce((sum, { micros }) => sum + micros, 0)
  // What a tier does at most is known from throughput alone.
  const guide = tierGuide(points.filter(isValid), microsPerRequest)
  const largest = guide.at(-1)!
  const fitting = guide.find(({ upToPerSecond }) => upToPerSecond >= wish.perSecond) ?? largest
  const busy = Math.ceil(wish.perSecond / fitting.upToPerSecond - 1e-9)
  const replicas = Math.max(1, busy, crowdedReplicas(fitting, wish, memory))
  return {
    tier: fitting.tier,
    replicas,
    cores: (wish.perSecond * microsPerRequest) / 1_000_000 / (1 - HEADROOM),
    microsPerRequest,
    shares,
    guide,
    autoscaler: autoscalerFor(replicas),
  }
}

/** As many pods as have the memory for these connections, with headroom. */
function crowdedReplicas(
  { memoryBytes }: GuideRow,
  { connections = 0 }: WholeWish,
  memory: ConnectionMemory | null,
): number {
  if (memory === null || connections === 0) return 1
  const room = memoryBytes * (1 - HEADROOM) - memory.baseBytes
  const wanted = (connections / 1000) * memory.perThousandBytes
  return room <= 0 ? 1 : Math.ceil(wanted / room)
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

/** A contestant that was not full needs more for a request, so that the answer errs to the large side. */
function costNotes({ usedPoints }: Evidence): string[] {
  const places = [
    ...new Set(usedPoints.filter((point) => !isValid(point)).map((point) => nameOf(point) + busyText(point))),
  ]
  return places.map(
    (place) => `of ${place}, CPU time alone is a result, not the throughput: rather more than it takes`,
  )
}

function tierNotes({ guide }: CapacitySize): string[] {
  const guessed = guide.filter(({ isMeasured }) => !isMeasured).map(({ tier }) => tier)
  if (guessed.length === 0) return []
  return [`${guessed.join(', ')} not measured: extrapolated from the CPU time of a request and the cores`]
}

function scopeNotes({ host, notes }: Measurements, { log }: WholeWish): string[] {
  const off = log === 'none' ? ['the traffic log is off in this figure'] : []
  const headroom = `${HEADROOM * 100} % headroom is included; scale out at ${100 - HEADROOM * 100} % of the CPU`
  const machine = `measured on ${host.cpuModel}, score ${significant(host.cpuScore)}: scale by the score of the target’s cores`
  return [...off, headroom, machine, ...notes]
}

function nameOf({ suite, title, connections, workers, bodyBytes }: Point): string {
  const body = bodyBytes === 0 ? '' : `, body ${formatSize(bodyBytes)}`
  return `${suite}: ${title}, ${countText(connections)} connections, ${workers} ${workers === 1 ? 'worker' : 'workers'}${body}`
}
