import type { LogWish } from '../model/scenario.js'
import type { Point } from '../model/summary.js'

/** The figures of one published report, the set-up of which a suite repeats. */
export interface Reference {
  readonly suite: string
  readonly product: string
  /** What it ran on; it stands beside every figure, because other hardware makes a ratio a hint and no result. */
  readonly hardware: string
  /** How it was measured, in a few words. */
  readonly measuredWith: string
  readonly points: readonly ReferencePoint[]
}

/** One row of a published report. */
export interface ReferencePoint {
  /** The id of the scenario that repeats it. */
  readonly scenario: string
  readonly cpus: number
  readonly log: LogWish
  readonly method: string
  /** Null: the report does not say. */
  readonly bodyBytes: number | null
  /** Connections, threads or users; null: the report gives its best figure only. */
  readonly users: number | null
  /** `saturation` is closed loop or overload: then its latency is that of overload. */
  readonly kind: Point['kind']
  readonly perSecond: number
  readonly latency: ReferenceLatency
}

/** Milliseconds; null: not published. */
export interface ReferenceLatency {
  readonly mean: number | null
  readonly p50: number | null
  readonly p90: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** The latencies that are given; the others were not published. */
export function published(given: Partial<ReferenceLatency>): ReferenceLatency {
  return { mean: null, p50: null, p90: null, p95: null, p99: null, ...given }
}
