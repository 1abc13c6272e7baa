import type { Catalog, Policy } from '@sluice/core'
import type { Issue } from '../diagnostic/issue.js'
import type { PluginPlan } from '../plan/plan-plugin.js'

/** The plugin for each name in `plugins`, or the reason why it cannot be used. */
export type PluginSet = ReadonlyMap<string, PluginPlan | Issue>

/** Returns the usable plugins in document order. */
export function usablePlugins(set: PluginSet): readonly PluginPlan[] {
  return [...set.values()].filter((plugin) => 'policies' in plugin)
}

/**
 * Returns the catalog with the policies of plugins, for checking and showing documents. The code of plugins
 * is not loaded, so their policies cannot be compiled.
 */
export function describedCatalog(catalog: Catalog, plugins: readonly PluginPlan[]): Catalog {
  if (plugins.length === 0) return catalog
  return extendedCatalog(
    catalog,
    plugins.flatMap(({ name, policies }) =>
      policies.map((policy) => ({
        ...policy,
        compile: () => {
          throw new Error(`the code of the plugin '${name}' is not loaded`)
        },
      })),
    ),
  )
}

/** Returns the catalog with additional policies. */
export function extendedCatalog(catalog: Catalog, policies: readonly Policy[]): Catalog {
  const { bodies, bodyWork, measured, nodeOptions } = catalog
  const entries = new Map([...catalog, ...policies.map((policy) => [policy.name, policy] as const)])
  return Object.assign(entries, {
    ...(bodies === undefined ? {} : { bodies }),
    ...(bodyWork === undefined ? {} : { bodyWork }),
    ...(measured === undefined ? {} : { measured }),
    ...(nodeOptions === undefined ? {} : { nodeOptions }),
  })
}
