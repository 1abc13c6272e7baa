import type { Catalog } from '@sluice/core'
import type { Plan } from './plan.js'

/** Brings in the policies that a plan uses. */
export async function loadPlannedPolicies(plan: Pick<Plan, 'routes'>, catalog: Catalog): Promise<void> {
  if (catalog.load === undefined) return
  const uses = new Set(plan.routes.flatMap(({ policies }) => policies.map(({ use }) => use)))
  await catalog.load((name) => uses.has(name))
}

/** Looking for each name of the catalog would read a large text fifty times. */
const USE = /\buse["']?\s{0,20}:\s{0,20}["']?([\w-]+)/g

/**
 * Brings in the policies that the text of a document uses. One that is written with escapes is missed: whoever finds a mistake
 * in the document loads all of them, and checks it again. Plugins must not take the name of any.
 */
export async function loadNamedPolicies(text: string, catalog: Catalog): Promise<void> {
  if (catalog.load === undefined) return
  const hasPlugins = text.includes('plugins')
  const used = new Set<string>()
  for (const [, name] of text.matchAll(USE)) used.add(name!)
  await catalog.load((name) => hasPlugins || used.has(name))
}
