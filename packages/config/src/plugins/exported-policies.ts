import type { Policy } from '@sluice/core'
import * as core from '@sluice/core'

/** What a plugin exports as its default: its policies, or a function that makes them of what `@sluice/core` exports. */
export type PluginExport =
  | Policy
  | readonly Policy[]
  | ((sluice: typeof core) => PluginExport | Promise<PluginExport>)

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const MAX_NAME_CHARS = 64
const MAX_POLICIES = 100
const COSTS: ReadonlySet<unknown> = new Set(['cheap', 'cpu', 'io'])

/**
 * Imports a plugin. Its code runs with the rights of this process.
 * @param entry URL of its module.
 * @throws what its code throws; Error when it does not export policies.
 */
export async function importPolicies(entry: string): Promise<readonly Policy[]> {
  const module = (await import(entry)) as { readonly default?: unknown }
  const exported = typeof module.default === 'function' ? await module.default(core) : module.default
  const policies: readonly unknown[] = Array.isArray(exported) ? exported : [exported]
  if (exported === undefined || exported === null || policies.length === 0)
    throw new Error('it exports no policies as its default')
  if (policies.length > MAX_POLICIES) throw new Error(`it exports more than ${MAX_POLICIES} policies`)
  for (const [i, policy] of policies.entries()) {
    const flaw = flawOf(policy)
    if (flaw !== null) throw new Error(`its policy ${i + 1} ${flaw}`)
  }
  return policies as readonly Policy[]
}

/** Why a value is no policy; null when it is one. */
function flawOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return `is ${typeof value} and no object`
  const { name, summary, schema, compile, cost, secretNames } = value as Record<string, unknown>
  if (typeof name !== 'string' || name.length > MAX_NAME_CHARS || !NAME.test(name))
    return 'has no name in kebab-case, such as add-tenant'
  if (typeof summary !== 'string' || summary === '') return `('${name}') has no summary, one sentence`
  if (typeof schema !== 'object' || schema === null || (schema as { type?: unknown }).type !== 'object')
    return `('${name}') has no schema of an object`
  if (typeof compile !== 'function') return `('${name}') has no function compile`
  if (cost !== undefined && !COSTS.has(cost)) return `('${name}') has a cost that is none of cheap, cpu, io`
  return secretNames === undefined || typeof secretNames === 'function'
    ? null
    : `('${name}') has secretNames that are no function`
}
