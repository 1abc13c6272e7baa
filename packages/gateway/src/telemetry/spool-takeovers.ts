import { type LogCounts, type LogIdentity, sumOfCounts, type Takeover } from '@sluice/core'
import { mapCounts } from './log-identities.js'

/**
 * Removes double counts from a sum of log counts. If a spool's owner has ended and another took it over, the
 * records are in the counts of both.
 */
export function deduplicate(log: LogIdentity): LogIdentity {
  const { targets, ...counts } = log
  if (targets === undefined) return deduplicateCounts(counts, counts.spools?.takeovers ?? [])
  const all = Object.values(targets).flatMap(({ spools }) => spools?.takeovers ?? [])
  const once = Object.entries(targets).map(([id, target]) => [id, deduplicateCounts(target, all)] as const)
  return { ...sumOfCounts(once.map(([, target]) => target)), targets: Object.fromEntries(once) }
}

/** Returns the counts without the takeover details, for display. */
export function withoutTakeovers(log: LogIdentity): LogIdentity {
  return mapCounts(log, ({ spools, ...counts }) => counts)
}

/** @param all takeovers of the whole log: another target may have received this one's spool. */
function deduplicateCounts(log: LogCounts, all: readonly Takeover[]): LogCounts {
  if (log.spools === undefined || all.length === 0) return log
  const own = new Set(log.spools.takeovers)
  const left: Record<string, number> = { ...log.spools.left }
  let { received, indexed, onDisk, inMemory } = log
  for (const [owner, takeovers] of byOwner(all)) {
    const had = left[owner]
    if (had === undefined) continue
    delete left[owner]
    let again = 0
    for (const takeover of takeovers) if (own.has(takeover)) again += takeover.records
    again = Math.min(had, again)
    received -= again
    // Missing records were delivered by an owner that ended before it could report.
    indexed += had - again
    const fromDisk = Math.min(had, onDisk)
    onDisk -= fromDisk
    inMemory -= had - fromDisk
  }
  return { ...log, received, indexed, onDisk, inMemory, spools: { ...log.spools, left } }
}

/** Groups takeovers by the owner that last reported the spool's content. */
function byOwner(takeovers: readonly Takeover[]): ReadonlyMap<string, readonly Takeover[]> {
  const known = new Set(takeovers.map(({ made, by }) => `${made} ${by}`))
  const owners = new Map<string, Takeover[]>()
  for (const [i, takeover] of takeovers.entries()) {
    const owner = lastHeard(takeover, takeovers.slice(0, i), known)
    const theirs = owners.get(owner)
    if (theirs === undefined) owners.set(owner, [takeover])
    else theirs.push(takeover)
  }
  return owners
}

/**
 * Returns the last owner that reported. An owner that took over and ended at once may not have; then the
 * previous one had.
 */
function lastHeard(
  { made, from }: Takeover,
  earlier: readonly Takeover[],
  known: ReadonlySet<string>,
): string {
  if (made === from || known.has(`${made} ${from}`)) return from
  return earlier.findLast((one) => one.made === made)?.by ?? made
}
