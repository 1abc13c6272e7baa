import type { PolicyUse } from '@sluice/config'
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
