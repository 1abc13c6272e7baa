import { type ConfigBundle, conceal, hasUnreadSecret, type PolicyMistake, resolvePlan } from '@sluice/config'
import type { Catalog } from '@sluice/core'
import { ChainCompiler } from '../compile/chain.js'
import { withPlugins } from './trial-env.js'

/**
 * Finds policies that fail to compile although their parameters are valid: a key that is too short, a missing
 * file, an error in an expression. A gateway would refuse the document.
 * @param announce called before code of plugins runs.
 * @throws Error naming a plugin that cannot be loaded.
 */
export function policyMistakes(
  bundle: ConfigBundle,
  ownCatalog: Catalog,
  announce: (what: string) => Promise<void> = async () => {},
): Promise<readonly PolicyMistake[]> {
  return withPlugins({ plan: bundle.plan, catalog: ownCatalog, announce }, async (env, catalog) => {
    const chains = new ChainCompiler(catalog, env, () => {})
    const mistakes: PolicyMistake[] = []
    for (const { id: route, policies } of resolvePlan(bundle).routes) {
      for (const use of policies) {
        // Its key, for example, cannot be checked on a machine that does not read Vault.
        if (hasUnreadSecret(use.with)) continue
        try {
          await chains.compile([use])
        } catch (error) {
          const message = conceal((error as Error).message, bundle.values)
          mistakes.push({ route, policy: use.id, message, use: use.use, config: use.with })
        }
      }
    }
    return mistakes
  })
}
