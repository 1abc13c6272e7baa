import type { Plan, PolicyUse } from '@sluice/config'
import type { Catalog, Exchange, MeasuredCost, PolicyCost, Step } from '@sluice/core'
import { withPlugins } from './trial-env.js'

/** What a policy asks of the gateway. */
export interface PolicyRequirements {
  readonly cost: PolicyCost
  /** Null: nobody has measured it, which is so for plugins. */
  readonly measured: MeasuredCost | null
  /** The bodies that are held in memory for it; null when it does not compile, which a deployment reports. */
  readonly buffers: readonly ('request' | 'response')[] | null
  /** Of a policy that decides by the consumer alone, where one is assumed; null: of all others. */
  readonly decision: Decision | null
  /** The plugin that brings it, with its version; null: it comes with the gateway. */
  readonly plugin: string | null
}

/** What a policy says of an assumed consumer. */
export interface Decision {
  /** Null: it lets the request pass. */
  readonly refusal: string | null
  /** What the traffic log would say of it. */
  readonly reason: string
}

/** Compiles the policies of a chain as a snapshot would, to see which hooks they have and whom they let in. */
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
        // Plugins are asked nothing: what their hooks do is not known.
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
