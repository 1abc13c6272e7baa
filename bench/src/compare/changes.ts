import { bootstrapInterval, resampledMean, seededRandom } from '../lib/statistics.js'
import { percentileOf } from '../model/spectrum.js'
import type { Point } from '../model/summary.js'

/** Change of a figure between two runs. */
export interface MetricChange {
  readonly metric: Metric
  readonly before: number
  readonly after: number
  /** Change as a share of `before`. */
  readonly change: number
  /** Interval that contains the true change in 95 of 100 measurements, or null if the repetitions do not show it. */
  readonly range: readonly [low: number, high: number] | null
}

/** Verdict on one limit. */
export interface LimitVerdict {
  readonly limit: Limit
  /** `broken`: the whole range exceeds the limit. `unclear`: only the change does, or there is no range. */
  readonly outcome: 'kept' | 'unclear' | 'broken'
}

/** Tolerance for binary fractions: 950 of 1,000 is slightly more than a 5 % fall. */
const ROUNDING = 1e-9

/** Returns the change of a figure, or null if it is not meaningful. */
export function changeOf(before: Point, after: Point, metric: Metric): MetricChange | null {
  if (!isMeaningful(metric, after)) return null
  const [earlier, later] = [valuesOf(before, metric), valuesOf(after, metric)]
  if (!(earlier.merged! > 0) || !(later.merged! > 0)) return null
  const change = later.merged! / earlier.merged! - 1
  const range = rangeOfChange(earlier.repetitions, later.repetitions)
  return { metric, before: earlier.merged!, after: later.merged!, change, range }
}

/** Returns the outcome of a limit for a change. */
export function outcomeOf({ change, range }: MetricChange, limit: Limit): LimitVerdict['outcome'] {
  const isBeyond = (value: number): boolean =>
    limit.direction === '<' ? value < limit.change - ROUNDING : value > limit.change + ROUNDING
  if (range?.every(isBeyond) === true) return 'broken'
  return isBeyond(change) ? 'unclear' : 'kept'
}

/** At a fixed rate the throughput is given, and at overload the latency only shows the queue. */
function isMeaningful(metric: Metric, { kind }: Point): boolean {
  if (metric === 'rps') return kind === 'saturation'
  return (metric !== 'p50' && metric !== 'p99') || kind === 'fixed-rate'
}

interface MetricValues {
  readonly merged: number | null
  readonly repetitions: readonly number[]
}

function valuesOf(point: Point, metric: Metric): MetricValues {
  const { perSecond, cpuMicrosPerRequest, repetitions, latency, rssBytes } = point
  const each = (name: keyof Point['repetitions'][number]): number[] =>
    repetitions.flatMap((one) => one[name] ?? [])
  switch (metric) {
    case 'rps':
      return { merged: perSecond.mean, repetitions: perSecond.values }
    case 'cpu':
      return { merged: cpuMicrosPerRequest?.mean ?? null, repetitions: cpuMicrosPerRequest?.values ?? [] }
    case 'p50':
      return { merged: percentileOf(latency, 50), repetitions: each('p50Micros') }
    case 'p99':
      return { merged: percentileOf(latency, 99), repetitions: each('p99Micros') }
    case 'rss':
      return { merged: rssBytes, repetitions: each('rssBytes') }
  }
}

/**
 * Returns the range of a change of means, by bootstrap over the repetitions (Efron 1979). Always the same for the
 * same runs. Null if a side has fewer than two repetitions.
 */
export function rangeOfChange(
  before: readonly number[],
  after: readonly number[],
): readonly [number, number] | null {
  if (before.length < 2 || after.length < 2) return null
  const random = seededRandom('bootstrap')
  return bootstrapInterval(() => resampledMean(after, random) / resampledMean(before, random) - 1)
}

/** Figures that limits may refer to. */
export const METRICS = ['rps', 'cpu', 'p50', 'p99', 'rss'] as const
export type Metric = (typeof METRICS)[number]

/** A limit that makes a comparison fail, such as `rps<-5%`: requests per second fell by more than 5 %. */
export interface Limit {
  readonly metric: Metric
  readonly direction: '<' | '>'
  /** Signed share, such as -0.05. */
  readonly change: number
  /** Original text. */
  readonly text: string
}

const LIMIT = /^(\w+)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)%$/

/** Parses limits such as `rps<-5% or p99>+10%`. A comparison fails if any of them applies. @throws Error if invalid */
export function parseLimits(expression: string): Limit[] {
  return expression.split(/\bor\b/).map((part) => {
    const text = part.trim()
    const [, name, direction, percent] = LIMIT.exec(text) ?? []
    const metric = METRICS.find((each) => each === name)
    if (metric === undefined)
      throw new Error(
        `'${text}' is not a limit; use one of ${METRICS.join(', ')}, < or >, and a change in percent, such as "rps<-5% or p99>+10%"`,
      )
    return { metric, direction: direction as Limit['direction'], change: Number(percent) / 100, text }
  })
}
