import type { Point } from '../model/summary.js'
import { APINIZER } from './apinizer.js'
import { APINIZER_CACHE } from './apinizer-cache.js'
import { APINIZER_CLASSIC } from './apinizer-classic.js'
import type { Reference, ReferencePoint } from './reference-point.js'
import { WSO2_MI } from './wso2-mi.js'
import { WSO2_PLATFORM } from './wso2-platform.js'

const REFERENCES: readonly Reference[] = [APINIZER, APINIZER_CACHE, APINIZER_CLASSIC, WSO2_MI, WSO2_PLATFORM]

/** 1 KB is 1,000 bytes to some and 1,024 to others. */
const SIZE_TOLERANCE = 0.05

/** The published figures that a suite stands beside; null: there are none. */
export function referenceFor(suite: string): Reference | null {
  return REFERENCES.find((reference) => reference.suite === suite) ?? null
}

/**
 * The published row that was measured like this point: same kind, cores, log, request, and number of users, or the best
 * row when the report names no users. Null: there is none, and for a point that is no result.
 */
export function referenceBeside(point: Point, reference: Reference): ReferencePoint | null {
  if (point.invalid.length > 0) return null
  const words = point.scenario.split('-')
  if (reference.foreignWords.some((word) => words.includes(word))) return null
  const variant = reference.variantWords.filter((word) => words.includes(word))
  return reference.points.find((row) => isAlike(point, row) && isSame(row.variant, variant)) ?? null
}

/** Reports without tiers name one machine and one way to log; what they say of both is shown beside their figures. */
function isAlike(point: Point, row: ReferencePoint): boolean {
  return (
    row.kind === point.kind &&
    row.method === point.method &&
    (row.tier === null || row.tier === point.tier || (point.tier === null && row.cpus === point.workers)) &&
    (row.tier === null || row.log === point.log) &&
    (row.users === null || row.users === point.connections) &&
    (row.bodyBytes === null || Math.abs(row.bodyBytes - point.bodyBytes) <= row.bodyBytes * SIZE_TOLERANCE)
  )
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((word) => right.includes(word))
}
