import type { Condition, PolicyUse } from '@sluice/config'
import type { Catalog } from '@sluice/core'

/** Whether a use of a policy answers preflights. */
export function answersPreflights(use: PolicyUse, catalog: Catalog): boolean {
  return catalog.get(use.use)?.answersPreflights === true
}

/**
 * The policies of a route in the order in which they run: that of the document, but those that answer preflights come first.
 * Browsers send preflights without credentials, so that authentication would refuse them.
 */
export function inChainOrder<U extends PolicyUse>(uses: readonly U[], catalog: Catalog): readonly U[] {
  const first = uses.filter((use) => answersPreflights(use, catalog))
  return first.length === 0 ? uses : [...first, ...uses.filter((use) => !first.includes(use))]
}

/** @throws Error for a condition on a policy that takes none, and for a policy without one that needs it. */
export function checkCondition(use: PolicyUse, when: Condition | null, catalog: Catalog): void {
  const name = `policy '${use.id}' (${use.use}):`
  // Or else a preflight could reach the upstream by a route that does not serve OPTIONS.
  if (when !== null && answersPreflights(use, catalog)) {
    throw new Error(`${name} it takes no condition; give it to the routes that need it`)
  }
  const isAlways = when === null || when.constant === true
  if (isAlways && catalog.get(use.use)?.needsCondition?.(use.with as never) === true) {
    throw new Error(`${name} it would meet every request; give it 'when', or a guard`)
  }
}
