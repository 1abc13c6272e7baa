import type { Point } from '../model/summary.js'
import type { CoreLayout } from '../process/cores.js'
import type { Repetition } from './repetition.js'

/** Minimum use of the system's cores. Below it something else was the bottleneck. */
export const LEAST_BUSY = 0.95
/** Minimum use of the cores for a cost at saturation: a half-idle system needs up to 13 % more per request. */
const LEAST_BUSY_FOR_COST = 0.5
/** Maximum use of the load generator. */
const MOST_GENERATOR = 0.8
/** Minimum ratio of the ceiling to the measured throughput, unless the system used all its cores. */
const LEAST_CEILING = 3
/** Minimum ratio of the ceiling to a fixed rate. */
const LEAST_CEILING_AT_RATE = 1.5
/** Maximum CPU share of other programs on the system's cores. */
const MOST_FOREIGN = 0.05
/** Maximum share of CPU quota periods in which it was used up. */
const MOST_THROTTLED = 0.01
/** Minimum share of a rate that must be reached. */
const LEAST_OF_RATE = 0.95

/** A point before its validity is known. */
export type UnjudgedPoint = Omit<Point, keyof Validity>
export type Validity = Pick<Point, 'invalid' | 'costInvalid'> & { readonly warnings: string[] }

/**
 * Returns the reasons why a point has no figures, and warnings about influences on them. The CPU time per request is
 * evidence if everything was answered and nobody else used the system's cores: it is counted for its processes only.
 */
export function validityOf(
  point: UnjudgedPoint,
  repetitions: readonly Repetition[],
  layout: CoreLayout,
): Validity {
  const whole = wholeReasons(point, repetitions)
  if (point.requests === 0) return { invalid: whole, costInvalid: whole, warnings: [] }
  const { kind, busyShare, targetPerSecond, perSecond, generatorBusyShare } = point
  const isSaturation = kind === 'saturation'
  const used = busyShare ?? 1
  const throttled = Math.max(...repetitions.map(({ throttledShare }) => throttledShare))
  const foreign = Math.max(0, ...repetitions.map(({ foreignShare }) => foreignShare))
  const others = foreign > MOST_FOREIGN && `other programs used ${percent(foreign)} of the system's cores`
  const isMissed = targetPerSecond !== null && perSecond.mean < targetPerSecond * LEAST_OF_RATE
  const missed = `the rate was not reached: ${Math.round(perSecond.mean)} of ${Math.round(targetPerSecond ?? 0)} requests/s`
  const warnings = [
    layout.isShared && 'system, load generator and origin share their cores',
    isSaturation && used < LEAST_BUSY && `not gateway-bound: the system used ${percent(used)} of its cores`,
    (generatorBusyShare ?? 0) >= MOST_GENERATOR &&
      `the load generator was busy for ${percent(generatorBusyShare!)} of the time`,
    lowCeiling(point),
    throttled >= MOST_THROTTLED && `the CPU quota was used up in ${percent(throttled)} of its periods`,
    others,
  ]
  // On shared cores the idle time belonged to load generator and origin.
  const isIdle = isSaturation && !layout.isShared && used < LEAST_BUSY_FOR_COST
  const idle = `the system used ${percent(used)} of its cores; CPU time per request requires ${percent(LEAST_BUSY_FOR_COST)}`
  return {
    invalid: [...whole, ...textsOf([isMissed && missed])],
    warnings: textsOf(warnings),
    costInvalid: [...whole, ...textsOf([isIdle && idle, others])],
  }
}

/** Returns the reasons that invalidate all figures of a point. */
function wholeReasons(point: UnjudgedPoint, repetitions: readonly Repetition[]): string[] {
  const failures = textsOf(repetitions.map(({ failure }) => failure))
  return [
    ...new Set(failures),
    ...textsOf([point.requests === 0 && 'no request was completed', failedRequests(point)]),
  ]
}

/** Describes the errors of a point, or returns null. */
function failedRequests({ errors, requests }: UnjudgedPoint): string | null {
  const classes = Object.entries(errors).filter(([, count]) => count > 0)
  const total = classes.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  const each = classes.map(([name, count]) => `${count} ${name}`).join(', ')
  return `${total} requests failed, ${requests} were completed: ${each}`
}

/**
 * Describes a ceiling that is too low, or returns null. At saturation this does not matter for a system that used all
 * its cores. At a rate it always matters: near their limit, load generator and origin add to the latency.
 */
function lowCeiling(point: UnjudgedPoint): string | null {
  if (point.kind === 'fixed-rate') return ceilingBelow(point, LEAST_CEILING_AT_RATE)
  return (point.busyShare ?? 0) >= LEAST_BUSY ? null : ceilingBelow(point, LEAST_CEILING)
}

function ceilingBelow({ ceilingPerSecond, perSecond }: UnjudgedPoint, least: number): string | null {
  if (ceilingPerSecond === null || ceilingPerSecond >= perSecond.mean * least) return null
  const times = (ceilingPerSecond / perSecond.mean).toFixed(1)
  return `load generator and origin alone reach ${Math.round(ceilingPerSecond).toLocaleString('en-US')} requests/s, ${times} times this throughput; at least ${least} times is required`
}

/** Returns the point with reasons why it has no figures. */
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

/** Formats a share: `92 %`, or `3.1 %` for small ones. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}
