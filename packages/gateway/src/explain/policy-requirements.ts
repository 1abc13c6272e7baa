import type { Plan, PolicyUse } from '@sluice/config'
import type { Catalog, Exchange, MeasuredCost, PolicyCost, Step } from '@sluice/core'
import { withPlugins } from './trial-env.js'

/** Requirements and cost of a policy. */
export interface PolicyRequirements {
  readonly cost: PolicyCost
  /** Measured cost, or null if never measured, as for plugins. */
  readonly measured: MeasuredCost | null
  /** Bodies buffered in memory for it. Null if it does not compile; a deploy reports that. */
  readonly buffers: readonly ('request' | 'response')[] | null
  /**
   * Decision about the assumed consumer. Null without one, or if the policy needs more than the consumer to
   * decide.
   */
  readonly decision: Decision | null
  /** Name and version of the plugin that provides it, or null for a built-in policy. */
  readonly plugin: string | null
}

/** A policy's decision about the assumed consumer. */
export interface Decision {
  /** Error code of the refusal, or null if the request passes. */
  readonly refusal: string | null
  /** Reason as recorded in the traffic log. */
  readonly reason: string
}

/**
 * Compiles the policies of a chain as a snapshot would, to see which hooks they have and which consumers they
 * allow.
 */
export function requirementsOf(
  uses: readonly PolicyUse[],
  { plan, catalog: ownCatalog, x }: { readonly plan: Plan; readonly catalog: Catalog; readonly x: Exchange },
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
        // Plugins are not run, because the effect of their hooks is unknown.
        const isOwn = ownCatalog.get(use.use)?.needsConsumer?.(use.with as never) === 'request'
        const decision = isOwn && step !== null ? await decisionOf(step, x) : null
        requirements.push({ ...costs, buffers: step === null ? [] : buffersOf(step), decision })
      } catch {
        requirements.push({ ...costs, buffers: null, decision: null })
      }
    }
    return requirements
  })
}

async function decisionOf(step: Step, x: Exchange): Promise<Decision | null> {
  if (x.consumer === null || step.onRequest === undefined) return null
  x.record.reason = ''
  const reply = await step.onRequest(x)
  return { refusal: reply?.problem?.code ?? null, reason: x.record.reason }
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
