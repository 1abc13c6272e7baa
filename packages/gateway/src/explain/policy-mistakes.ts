import { type Load, type PolicyUse, resolvePlan } from '@sluice/config'
import type { Catalog } from '@sluice/core'
import { withTrialEnv } from './trial-env.js'

/**
 * Policies of a plan that do not compile, though their parameters have the right form: a key that is too short, a file
 * that is not there, an expression with a mistake. By id, with what is wrong; a gateway would refuse the document.
 */
export function policyMistakes(load: Load, catalog: Catalog): Promise<ReadonlyMap<string, string>> {
  const uses = new Map<string, PolicyUse>()
  for (const { policies } of resolvePlan(load).routes) for (const use of policies) uses.set(use.id, use)
  return withTrialEnv(async (env) => {
    const mistakes = new Map<string, string>()
    for (const use of uses.values()) {
      try {
        await catalog.get(use.use)?.compile(use.with as never, env)
      } catch (error) {
        mistakes.set(use.id, (error as Error).message)
      }
    }
    return mistakes
  })
}
