import type { Policy } from '@sluice/core'
import * as core from '@sluice/core'

/**
 * Default export of a plugin: its policies, or a function that creates them with the exports of
 * `@sluice/core`.
 */
export type PluginExport =
  | Policy
  | readonly Policy[]
  | ((sluice: typeof core) => PluginExport | Promise<PluginExport>)

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const MAX_NAME_CHARS = 64
const MAX_POLICIES = 100
const COSTS: ReadonlySet<unknown> = new Set(['cheap', 'cpu', 'io'])

/**
 * Imports a plugin. Its code runs with the privileges of this process.
 * @param entry URL of its module
 * @throws the plugin's own errors; Error if it does not export policies
 */
export async function importPolicies(entry: string): Promise<readonly Policy[]> {
  const module = (await import(entry)) as { readonly default?: unknown }
  const exported = typeof module.default === 'function' ? await module.default(core) : module.default
  const policies: readonly unknown[] = Array.isArray(exported) ? exported : [exported]
  if (exported === undefined || exported === null || policies.length === 0)
    throw new Error('its default export contains no policies')
  if (policies.length > MAX_POLICIES) throw new Error(`it exports more than ${MAX_POLICIES} policies`)
  for (const [i, policy] of policies.entries()) {
    const problem = policyProblem(policy)
    if (problem !== null) throw new Error(`its policy ${i + 1} ${problem}`)
  }
  return policies as readonly Policy[]
}

/** Returns why a value is not a policy, or null if it is one. */
function policyProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return `is ${typeof value}, not an object`
  const { name, summary, schema, compile, cost, secretNames } = value as Record<string, unknown>
  if (typeof name !== 'string' || name.length > MAX_NAME_CHARS || !NAME.test(name))
    return 'has no name in kebab-case, such as add-tenant'
  if (typeof summary !== 'string' || summary === '') return `('${name}') has no summary`
  if (typeof schema !== 'object' || schema === null || (schema as { type?: unknown }).type !== 'object')
    return `('${name}') has no schema of type object`
  if (typeof compile !== 'function') return `('${name}') has no compile function`
  if (cost !== undefined && !COSTS.has(cost)) return `('${name}') has an invalid cost: use cheap, cpu or io`
  return secretNames === undefined || typeof secretNames === 'function'
    ? null
    : `('${name}') has a secretNames that is not a function`
}
