import type { ErrorClass } from '../model/engine.js'
import type { Point, Spread } from '../model/summary.js'
import type { CoreLayout } from './cores.js'
import type { Repetition } from './repetition.js'

/** Below it something else than the contestant was the bottleneck. */
export const LEAST_BUSY = 0.95
/**
 * Below it what a request costs at saturation cannot be told: a contestant that waits takes fewer requests at a time, and
 * each costs more. One that was half busy needed up to 13 % more for each (bench/results/2026-11-23-apinizer-rates).
 */
const LEAST_BUSY_FOR_COST = 0.5
/** From it on the load generator may have been. */
const MOST_GENERATOR = 0.8
/**
 * So many times what went through the contestant, load generator and origin must be able to do without it, where the
 * contestant's own use of its cores does not prove that it was the bottleneck.
 */
const LEAST_CEILING = 3
/** The same at a rate, where nothing is to be saturated. */
const LEAST_CEILING_AT_RATE = 1.5
/** More than that by others on the contestant's cores, and the figure is theirs as well. */
const MOST_FOREIGN = 0.05
/** A rate that was not held has latencies of another rate. */
export const LEAST_OF_RATE = 0.95
/** A search for the highest rate forgives fewer errors than this; a point of another kind forgives none. */
export const MOST_ERRORS = 0.001

/** What a point was, as far as its rules need it. */
export interface PointCase {
  readonly kind: Point['kind']
  readonly targetPerSecond: number | null
  /** Absent: no highest rate. */
  readonly sloMicros?: number
  readonly perSecond: Spread
  /** Null: not measured. */
  readonly ceilingPerSecond: number | null
  readonly requests: number
  readonly errors: Readonly<Record<ErrorClass, number>>
  /** NaN: not known. */
  readonly busyShare: number
  /** What is wrong with the saturation that the rate is a share of; null: nothing, or it is no rate. */
  readonly baseFlaw: string | null
}

/** Why the figures of a point are no results. */
export type Verdict = Required<Pick<Point, 'invalid' | 'costInvalid'>>

/**
 * Throughput and latencies are results when nothing speaks against the point. CPU time of a request is one wherever all
 * was answered and nobody else used the contestant's cores: it is counted for its processes alone, and what bounded the
 * load only changes how many requests it is shared by.
 */
export function verdictOf(point: PointCase, repetitions: readonly Repetition[], layout: CoreLayout): Verdict {
  const whole = wholeReasons(point, repetitions)
  if (point.requests === 0) return { invalid: whole, costInvalid: whole }
  const idle = idleReason(point, layout)
  const unknown = repetitions.flatMap(({ costFailure = null }) => (costFailure === null ? [] : [costFailure]))
  return {
    invalid: [...whole, ...bottlenecks(point, repetitions, layout)],
    costInvalid: [...new Set([...whole, ...unknown, ...(idle === null ? [] : [idle])])],
  }
}

/** What leaves no figure of a point standing. */
function wholeReasons(point: PointCase, repetitions: readonly Repetition[]): string[] {
  const failures = new Set(repetitions.flatMap(({ failure }) => (failure === null ? [] : [failure])))
  const reasons = [...failures]
  if (repetitions.length === 0) reasons.push('no repetition was made')
  else if (point.requests === 0) reasons.push('no request was completed')
  const failed = failedRequests(point)
  if (failed !== null) reasons.push(failed)
  const foreign = largest(repetitions.map(({ foreignShare }) => foreignShare))
  if (foreign > MOST_FOREIGN && point.requests > 0)
    reasons.push(`other processes used ${percent(foreign)} of the contestant's cores`)
  return reasons
}

/** On shared cores the rest of the time belonged to load generator and origin, so that nobody waited for work. */
function idleReason({ kind, busyShare }: PointCase, { isShared }: CoreLayout): string | null {
  if (kind !== 'saturation' || isShared || !(busyShare < LEAST_BUSY_FOR_COST)) return null
  return `the contestant used ${percent(busyShare)} of its cores; CPU time of a request takes ${percent(LEAST_BUSY_FOR_COST)}`
}

/** The words for errors; null without any. */
function failedRequests({ errors, requests, sloMicros }: PointCase): string | null {
  const classes = Object.entries(errors).filter(([, count]) => count > 0)
  const total = classes.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0 || (sloMicros !== undefined && total < MOST_ERRORS * (requests + total))) return null
  const each = classes.map(([name, count]) => `${count} ${name}`).join(', ')
  return `${total} requests failed beside ${requests} that were completed: ${each}`
}

function bottlenecks(point: PointCase, repetitions: readonly Repetition[], layout: CoreLayout): string[] {
  const reasons: string[] = []
  if (layout.isShared) reasons.push('contestant, load generator and origin share their cores')
  if (point.kind === 'saturation' && point.busyShare < LEAST_BUSY)
    reasons.push(`not gateway-bound: the contestant used ${percent(point.busyShare)} of its cores`)
  const generator = generatorBusyShare(repetitions)
  if (generator !== null && generator >= MOST_GENERATOR)
    reasons.push(`the load generator was busy for ${percent(generator)} of the time`)
  const low = lowCeiling(point)
  if (low !== null) reasons.push(low)
  const { targetPerSecond, perSecond } = point
  if (targetPerSecond !== null && perSecond.mean < targetPerSecond * LEAST_OF_RATE)
    reasons.push(
      `the rate was not held: ${Math.round(perSecond.mean)} of ${Math.round(targetPerSecond)} requests a second`,
    )
  if (point.baseFlaw !== null) reasons.push(point.baseFlaw)
  return reasons
}

/** The largest share of its time that the load generator was busy; null: not known. */
export function generatorBusyShare(repetitions: readonly Repetition[]): number | null {
  const shares = repetitions.flatMap(({ result }) => (result === null ? [] : [result.busyShare]))
  return shares.length === 0 || shares.some(Number.isNaN) ? null : largest(shares)
}

/**
 * The words for a load that could not have been much larger; null when it could. At saturation nothing is said of a
 * contestant that used its cores up, nor of one of which nobody knows (`unknownLimit`). At a rate it does not matter how
 * busy the contestant was: near their own limit load generator and origin add to its latencies.
 */
function lowCeiling(point: PointCase): string | null {
  const { kind, busyShare } = point
  if (kind === 'fixed-rate') return ceilingBelow(point, LEAST_CEILING_AT_RATE)
  return Number.isNaN(busyShare) || busyShare >= LEAST_BUSY ? null : ceilingBelow(point, LEAST_CEILING)
}

/** What to tell of a point whose throughput is a result and whose CPU time is none; null: not that. */
export function unknownCost({ invalid, costInvalid = [] }: Pick<Point, keyof Verdict>): string | null {
  if (invalid.length > 0 || costInvalid.length === 0) return null
  return `CPU time of a request is no result: ${costInvalid.join('; ')}`
}

/**
 * What to tell of a contestant of which nobody knows how busy it was, when the load could not have been much larger; null
 * when it could. What was measured is what it did at least.
 */
export function unknownLimit(point: Point): string | null {
  if (!Number.isNaN(point.busyShare) || point.kind !== 'saturation') return null
  const reason = ceilingBelow({ ...point, ceilingPerSecond: point.ceilingPerSecond ?? null }, LEAST_CEILING)
  return reason === null ? null : `it may do more than this: ${reason}`
}

function ceilingBelow(
  { ceilingPerSecond, perSecond }: Pick<PointCase, 'ceilingPerSecond' | 'perSecond'>,
  least: number,
): string | null {
  if (ceilingPerSecond === null || ceilingPerSecond >= perSecond.mean * least) return null
  const times = (ceilingPerSecond / perSecond.mean).toFixed(1)
  return `load generator and origin alone did ${Math.round(ceilingPerSecond)} requests a second, ${times} times as many; it takes ${least} times`
}

/** A point of which no figure is a result, for these reasons. */
export function voided(point: Point, ...reasons: readonly string[]): Point {
  const { invalid, costInvalid = invalid } = point
  return { ...point, invalid: [...reasons, ...invalid], costInvalid: [...reasons, ...costInvalid] }
}

/** What a traffic log must add up to: every request that the gateway counted is a document, or counted as dropped. */
export interface LogAccount {
  readonly requests: number
  readonly documents: number
  readonly dropped: number
  readonly dead: number
}

/** What is wrong with it, when clients had at least so many answers; null when it adds up. */
export function logMismatch(
  { requests, documents, dropped, dead }: LogAccount,
  answered: number,
): string | null {
  if (requests < answered) return `the gateway counted ${requests} requests, clients had ${answered} answers`
  if (documents === requests - dropped - dead) return null
  return `Elasticsearch holds ${documents} documents of ${requests} requests, ${dropped} of them dropped and ${dead} refused`
}

function largest(values: readonly number[]): number {
  return Math.max(0, ...values)
}

/** `92 %`, and `3.1 %` where that says more. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}
