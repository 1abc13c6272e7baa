import type { Catalog } from '@sluice/core'
import type { Plan } from '../plan/plan.js'

/** Loads the code of the policies that a plan uses. */
export async function loadPlannedPolicies(plan: Pick<Plan, 'routes'>, catalog: Catalog): Promise<void> {
  if (catalog.load === undefined) return
  const uses = new Set<string>()
  for (const { policies } of plan.routes) for (const { use } of policies) uses.add(use)
  await catalog.load((name) => uses.has(name))
}

/**
 * Matches policy names in the text of a document. Searching for each name of the catalog would scan a large
 * text fifty times.
 */
const USE = /\buse["']?\s{0,20}:\s{0,20}["']?([\w-]+)/g

/**
 * Loads the code of the policies that the text of a document uses. Names written with escapes are missed, so
 * callers that find an error must load all policies and check again. With plugins, all policies are loaded to
 * detect name conflicts.
 */
export async function loadNamedPolicies(text: string, catalog: Catalog): Promise<void> {
  if (catalog.load === undefined) return
  const hasPlugins = text.includes('plugins')
  const used = new Set<string>()
  for (const [, name] of text.matchAll(USE)) used.add(name!)
  await catalog.load((name) => hasPlugins || used.has(name))
}
