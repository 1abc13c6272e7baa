import type { Condition, PolicyUse } from '@sluice/config'
import type { Catalog } from '@sluice/core'

/** Returns true if a configured policy answers preflight requests. */
export function answersPreflights(use: PolicyUse, catalog: Catalog): boolean {
  return catalog.get(use.use)?.answersPreflights === true
}

/**
 * Returns a route's policies in execution order: document order, but policies that answer preflights come
 * first. Browsers send preflights without credentials, so authentication would refuse them.
 */
export function inChainOrder<U extends PolicyUse>(uses: readonly U[], catalog: Catalog): readonly U[] {
  const first = uses.filter((use) => answersPreflights(use, catalog))
  return first.length === 0 ? uses : [...first, ...uses.filter((use) => !first.includes(use))]
}

/** Checks that a policy accepts its condition, and has one if it needs one. @throws Error if not. */
export function checkCondition(use: PolicyUse, when: Condition | null, catalog: Catalog): void {
  const name = `policy '${use.id}' (${use.use}):`
  // With a condition, a preflight could reach the upstream on a route that does not serve OPTIONS.
  if (when !== null && answersPreflights(use, catalog))
    throw new Error(`${name} does not support 'when'; add the policy only to the routes that need it`)
  const isAlways = when === null || when.constant === true
  if (isAlways && catalog.get(use.use)?.needsCondition?.(use.with as never) === true)
    throw new Error(`${name} would apply to every request; add 'when' or a guard`)
}
