import type { Plan, PolicyUse } from '@sluice/config'
import type { Catalog, MeasuredCost, PolicyCost, Step } from '@sluice/core'
import { withPlugins } from './trial-env.js'

/** What a policy asks of the gateway. */
export interface PolicyRequirements {
  readonly cost: PolicyCost
  /** Null: nobody has measured it, which is so for plugins. */
  readonly measured: MeasuredCost | null
  /** The bodies that are held in memory for it; null when it does not compile, which a deployment reports. */
  readonly buffers: readonly ('request' | 'response')[] | null
  /** The plugin that brings it, with its version; null: it comes with the gateway. */
  readonly plugin: string | null
}

/** Compiles the policies of a chain as a snapshot would, to see which hooks they have. */
export function requirementsOf(
  uses: readonly PolicyUse[],
  { plan, catalog: ownCatalog }: { readonly plan: Plan; readonly catalog: Catalog },
): Promise<PolicyRequirements[]> {
  const announce = async (): Promise<void> => {}
  return withPlugins({ plan, catalog: ownCatalog, announce }, async (env, catalog) => {
    const requirements: PolicyRequirements[] = []
    for (const use of uses) {
      const policy = catalog.get(use.use)
      const measured = catalog.measured?.get(use.use) ?? null
      const costs = { cost: policy?.cost ?? 'cheap', measured, plugin: pluginOf(use.use, plan) }
      try {
        const step = (await policy?.compile(use.with as never, env, use)) ?? null
        requirements.push({ ...costs, buffers: step === null ? [] : buffersOf(step) })
      } catch {
        requirements.push({ ...costs, buffers: null })
      }
    }
    return requirements
  })
}

function pluginOf(use: string, { plugins }: Plan): string | null {
  const plugin = plugins.find(({ policies }) => policies.some(({ name }) => name === use))
  return plugin === undefined ? null : `${plugin.name} ${plugin.version}`
}

function buffersOf(step: Step): ('request' | 'response')[] {
  const request = step.onRequestBody === undefined ? [] : (['request'] as const)
  const response = step.onResponseBody === undefined ? [] : (['response'] as const)
  return [...request, ...response]
}
