import type { PolicyUse } from '@sluice/config'
import type { Catalog, MeasuredCost, PolicyCost, Step } from '@sluice/core'
import { withTrialEnv } from './trial-env.js'

/** What a policy asks of the gateway. */
export interface PolicyRequirements {
  readonly cost: PolicyCost
  /** Null: nobody has measured it, which is so for plugins. */
  readonly measured: MeasuredCost | null
  /** The bodies that are held in memory for it; null when it does not compile, which a deployment reports. */
  readonly buffers: readonly ('request' | 'response')[] | null
}

/** Compiles the policies of a chain as a snapshot would, to see which hooks they have. */
export function requirementsOf(uses: readonly PolicyUse[], catalog: Catalog): Promise<PolicyRequirements[]> {
  return withTrialEnv(catalog, async (env) => {
    const requirements: PolicyRequirements[] = []
    for (const use of uses) {
      const policy = catalog.get(use.use)
      const costs = { cost: policy?.cost ?? 'cheap', measured: catalog.measured?.get(use.use) ?? null }
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

function buffersOf(step: Step): ('request' | 'response')[] {
  const request = step.onRequestBody === undefined ? [] : (['request'] as const)
  const response = step.onResponseBody === undefined ? [] : (['response'] as const)
  return [...request, ...response]
}
