import type { Point } from '../model/summary.js'
import type { CoreLayout } from './cores.js'
import type { Repetition } from './repetition.js'

/** Below it something else than the system was the bottleneck. */
export const LEAST_BUSY = 0.95
/** Below it the cost of a request at saturation is unknown: one that is half busy needs up to 13 % more for each. */
const LEAST_BUSY_FOR_COST = 0.5
/** From it on the load generator may have been the bottleneck. */
const MOST_GENERATOR = 0.8
/**
 * So many times what went through the system, load generator and origin must be able to do without it, where the
 * system's own use of its cores does not prove that it was the bottleneck.
 */
const LEAST_CEILING = 3
/** The same at a rate, where nothing is to be saturated. */
const LEAST_CEILING_AT_RATE = 1.5
/** More than that by others on the system's cores, and the figure is theirs as well. */
const MOST_FOREIGN = 0.05
/** From it on a percentile of every hundredth request may be the quota's. */
const MOST_THROTTLED = 0.01
/** A rate that was not held has latencies of another rate. */
const LEAST_OF_RATE = 0.95

/** A point before it is known whether it is a result. */
export type UnjudgedPoint = Omit<Point, 'invalid' | 'costInvalid'>
export type Validity = Pick<Point, 'invalid' | 'costInvalid'>

/**
 * Throughput and latencies are results when nothing speaks against the point. CPU time of a request is one wherever all
 * was answered and nobody else used the system's cores: it is counted for its processes alone, and what bounded the load
 * only changes how many requests it is shared by.
 * @param baseFlaw what is wrong with the saturation that the rate is a share of; null: nothing
 */
export function validityOf(
  point: UnjudgedPoint,
  repetitions: readonly Repetition[],
  layout: CoreLayout,
  baseFlaw: string | null,
): Validity {
  const whole = wholeReasons(point, repetitions)
  if (point.requests === 0) return { invalid: whole, costInvalid: whole }
  const { kind, busyShare, targetPerSecond, perSecond, generatorBusyShare } = point
  const isSaturation = kind === 'saturation'
  const used = busyShare ?? 1
  const throttled = Math.max(...repetitions.map(({ throttledShare }) => throttledShare))
  const bounds = [
    layout.isShared && 'system, load generator and origin share their cores',
    isSaturation && used < LEAST_BUSY && `not gateway-bound: the system used ${percent(used)} of its cores`,
    (generatorBusyShare ?? 0) >= MOST_GENERATOR &&
      `the load generator was busy for ${percent(generatorBusyShare!)} of the time`,
    lowCeiling(point),
    targetPerSecond !== null &&
      perSecond.mean < targetPerSecond * LEAST_OF_RATE &&
      `the rate was not held: ${Math.round(perSecond.mean)} of ${Math.round(targetPerSecond)} requests a second`,
    baseFlaw,
    throttled >= MOST_THROTTLED && `the CPU quota was used up in ${percent(throttled)} of its periods`,
  ]
  // On shared cores the rest of the time belonged to load generator and origin, so that nobody waited for work.
  const isIdle = isSaturation && !layout.isShared && used < LEAST_BUSY_FOR_COST
  const idle = `the system used ${percent(used)} of its cores; CPU time of a request takes ${percent(LEAST_BUSY_FOR_COST)}`
  return { invalid: [...whole, ...textsOf(bounds)], costInvalid: [...whole, ...textsOf([isIdle && idle])] }
}

/** What leaves no figure of a point standing. */
function wholeReasons(point: UnjudgedPoint, repetitions: readonly Repetition[]): string[] {
  const failures = textsOf(repetitions.map(({ failure }) => failure))
  const foreign = Math.max(0, ...repetitions.map(({ foreignShare }) => foreignShare))
  return [
    ...new Set(failures),
    ...textsOf([
      point.requests === 0 && 'no request was completed',
      failedRequests(point),
      foreign > MOST_FOREIGN && `other processes used ${percent(foreign)} of the system's cores`,
    ]),
  ]
}

/** The words for errors; null without any. */
function failedRequests({ errors, requests }: UnjudgedPoint): string | null {
  const classes = Object.entries(errors).filter(([, count]) => count > 0)
  const total = classes.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  const each = classes.map(([name, count]) => `${count} ${name}`).join(', ')
  return `${total} requests failed beside ${requests} that were completed: ${each}`
}

/**
 * The words for a load that could not have been much larger; null when it could. At saturation nothing is said of a
 * system that used its cores up, nor of one of which nobody knows (`targetRemark`). At a rate it does not matter how busy
 * the system was: near their own limit load generator and origin add to its latencies.
 */
function lowCeiling(point: UnjudgedPoint): string | null {
  if (point.kind === 'fixed-rate') return ceilingBelow(point, LEAST_CEILING_AT_RATE)
  return (point.busyShare ?? 1) >= LEAST_BUSY ? null : ceilingBelow(point, LEAST_CEILING)
}

function ceilingBelow({ ceilingPerSecond, perSecond }: UnjudgedPoint, least: number): string | null {
  if (ceilingPerSecond === null || ceilingPerSecond >= perSecond.mean * least) return null
  const times = (ceilingPerSecond / perSecond.mean).toFixed(1)
  return `load generator and origin alone did ${Math.round(ceilingPerSecond)} requests a second, ${times} times as many; it takes ${least} times`
}

/** What to say of a system of which nobody knows how busy it was, when the load could not have been much larger. */
export function targetRemark(point: Point): string | null {
  if (point.busyShare !== null || point.kind !== 'saturation') return null
  const reason = ceilingBelow(point, LEAST_CEILING)
  return reason === null ? null : `it may do more than this: ${reason}`
}

/** A point of which no figure is a result, for these reasons. */
export function voided(point: Point, ...reasons: readonly (string | null)[]): Point {
  return {
    ...point,
    invalid: [...textsOf(reasons), ...point.invalid],
    costInvalid: [...textsOf(reasons), ...point.costInvalid],
  }
}

function textsOf(reasons: readonly (string | false | null)[]): string[] {
  return reasons.filter((reason) => typeof reason === 'string')
}

/** `92 %`, and `3.1 %` where that says more. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}
