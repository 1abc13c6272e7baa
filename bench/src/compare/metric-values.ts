import type { Point } from '../model/summary.js'
import { percentileOf } from '../report/figures.js'
import type { Metric } from './limit.js'

/** One figure of a point: over all, and in each repetition. */
export interface MetricValues {
  /** Null: the point has no such figure. */
  readonly merged: number | null
  /** Empty when only the merged figure is known. */
  readonly repetitions: readonly number[]
}

/** The figure of a point that a limit speaks of. */
export function metricValues(point: Point, metric: Metric): MetricValues {
  const singles = point.perRepetition ?? []
  switch (metric) {
    case 'rps':
      return { merged: point.perSecond.mean, repetitions: point.perSecond.values }
    case 'cpu':
      return { merged: point.cpuMicrosPerRequest.mean, repetitions: point.cpuMicrosPerRequest.values }
    case 'p50':
      return {
        merged: percentileOf(point.latency, 50),
        repetitions: known(singles.map((each) => each.p50Micros)),
      }
    case 'p99':
      return {
        merged: percentileOf(point.latency, 99),
        repetitions: known(singles.map((each) => each.p99Micros)),
      }
    case 'rss':
      return { merged: point.rssBytes, repetitions: singles.map((each) => each.rssBytes) }
  }
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null)
}
