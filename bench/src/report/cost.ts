import { LEAST_BUSY } from '../measure/validity.js'
import type { Point } from '../model/summary.js'
import { shareText, significant } from './figures.js'

/**
 * What a request costs changes with how busy its server is, so that two costs are held against each other within this
 * difference only. Half as busy cost up to 13 % more (bench/results/2026-11-23-apinizer-rates); a tenth costs 3 %.
 */
const MOST_BUSY_GAP = 0.1

/** Whether CPU time of a request is a result, which it can be where throughput is none. */
export function hasCost({ cpuMicrosPerRequest, invalid, costInvalid = invalid }: Point): boolean {
  return cpuMicrosPerRequest.values.length > 0 && costInvalid.length === 0
}

/** `17.1`, `17.1 at 92 %` of a contestant that was not full, `17.1 at 52 %, cores shared`; `–` where it is no result. */
export function costText(point: Point, text: (micros: number) => string = significant): string {
  return hasCost(point) ? text(point.cpuMicrosPerRequest.mean) + busyText(point) : '–'
}

/** ` at 92 %`: what has to be known of a contestant that was not full or not alone; else empty. */
export function busyText({ busyShare, sharesCores }: Point): string {
  const busy = busyShare < LEAST_BUSY ? ` at ${shareText(busyShare)}` : ''
  return sharesCores === true ? `${busy}, cores shared` : busy
}

/** Whether the costs of two points say something of each other: both contestants were about as busy, and as alone. */
export function areCostsAlike(one: Point, other: Point): boolean {
  if (!hasCost(one) || !hasCost(other)) return false
  const isShared = one.sharesCores === true
  if (isShared !== (other.sharesCores === true)) return false
  // On shared cores nobody waits for work; at a rate it is the cost that says how busy a contestant is.
  if (isShared || one.kind === 'fixed-rate') return true
  return !(Math.abs(one.busyShare - other.busyShare) > MOST_BUSY_GAP)
}

/** What the words behind a CPU time mean; null: there are none. */
export function costRemark(points: readonly Point[]): string | null {
  if (points.every((point) => !hasCost(point) || busyText(point) === '')) return null
  return 'CPU µs "at 92 %": the contestant used 92 % of its cores. A request costs more then than at full load, because fewer are taken at a time, and more on cores that are shared. A ratio is told only of contestants that were busy alike, within ten points.'
}
