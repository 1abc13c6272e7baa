import type { Catalog } from '@sluice/core'
import type { Plan } from './plan.js'

/** Brings in the policies that a plan uses. */
export async function loadPlannedPolicies(plan: Pick<Plan, 'routes'>, catalog: Catalog): Promise<void> {
  if (catalog.load === undefined) return
  const uses = new Set(plan.routes.flatMap(({ policies }) => policies.map(({ use }) => use)))
  await catalog.load((name) => uses.has(name))
}

/**
 * Brings in the policies whose names stand in the text of a document. One that is written with escapes is missed: whoever
 * finds a mistake in the document loads all of them, and checks it again. So are those whose names plugins must not take.
 */
export async function loadNamedPolicies(text: string, catalog: Catalog): Promise<void> {
  const hasPlugins = text.includes('plugins')
  await catalog.load?.((name) => hasPlugins || text.includes(name))
}
