import { deduplicateCounts, type LogIdentity, sumOfCounts } from '@sluice/core'
import { mapCounts } from './log-identities.js'

/**
 * Removes double counts from a sum of log counts. If a spool's owner has ended and another took it over, the
 * records are in the counts of both.
 */
export function deduplicate(log: LogIdentity): LogIdentity {
  const { targets, ...counts } = log
  if (targets === undefined) return deduplicateCounts(counts)
  const all = Object.values(targets).flatMap(({ spools }) => spools?.takeovers ?? [])
  const once = Object.entries(targets).map(([id, target]) => [id, deduplicateCounts(target, all)] as const)
  return { ...sumOfCounts(once.map(([, target]) => target)), targets: Object.fromEntries(once) }
}

/** Returns the counts without the takeover details, for display. */
export function withoutTakeovers(log: LogIdentity): LogIdentity {
  return mapCounts(log, ({ spools, ...counts }) => counts)
}
