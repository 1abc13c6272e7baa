/** Of the seconds of a repetition: no figure is taken from the ceiling but whether it is high enough. */
const SHARE = 0.25
/** A shorter load says how long load generator and origin take to come up to speed. */
const LEAST_SECONDS = 1

/**
 * What does not count in front of it: a load generator that has just been started opens its connections and compiles its
 * code. In the first quarter of a second autocannon did 6,000 to 9,000 requests a second here, of 30,000.
 */
export const LEAD_IN_SECONDS = 0.5

/** How long the ceiling of points of a length is measured, behind its lead-in. */
export function ceilingSeconds(seconds: number): number {
  return Math.max(seconds * SHARE, Math.min(seconds, LEAST_SECONDS))
}
