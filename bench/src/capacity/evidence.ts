import type { LogWish } from '../model/scenario.js'
import type { Point } from '../model/summary.js'

/** The load that somebody expects; what is left out follows from what was measured. */
export interface CapacityWish {
  readonly perSecond: number
  /** Of the request; 0 for none; null: that of the measured points, the largest. */
  readonly bodyBytes: number | null
  readonly policies: readonly string[]
  /** Open at the same time, of clients; absent: no more than the load itself takes. */
  readonly connections?: number
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly log?: LogWish
}

/** A wish in which nothing is left open. */
export interface WholeWish extends CapacityWish {
  readonly bodyBytes: number
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly log: LogWish
}

/** A part of the CPU time of a request. */
export interface CostShare {
  readonly what: string
  readonly micros: number
}

/** A piece of the answer, or what keeps it from being given. */
export interface Evidence {
  readonly shares: readonly CostShare[]
  readonly usedPoints: readonly Point[]
  readonly notes: readonly string[]
  readonly missing: readonly string[]
}
