import type { Point } from '../model/summary.js'
import { APINIZER } from './apinizer.js'
import { APINIZER_CACHE } from './apinizer-cache.js'
import { APINIZER_CLASSIC } from './apinizer-classic.js'
import type { Reference, ReferencePoint } from './reference-point.js'
import { WSO2_MI } from './wso2-mi.js'
import { WSO2_PLATFORM } from './wso2-platform.js'

const REFERENCES: readonly Reference[] = [APINIZER, APINIZER_CACHE, APINIZER_CLASSIC, WSO2_MI, WSO2_PLATFORM]

/** The published figures that a suite stands beside; null: there are none. */
export function referenceFor(suite: string): Reference | null {
  return REFERENCES.find((reference) => reference.suite === suite) ?? null
}

/**
 * The published row that was measured like this point: same scenario, kind and number of users, or the best row when the
 * report names no users. Null: there is none, and for a point that is no result.
 */
export function referenceBeside(point: Point, { points }: Reference): ReferencePoint | null {
  if (point.invalid.length > 0) return null
  const alike = points.filter(({ scenario, kind }) => scenario === point.scenario && kind === point.kind)
  return alike.find(({ users }) => users === null || users === point.connections) ?? null
}
