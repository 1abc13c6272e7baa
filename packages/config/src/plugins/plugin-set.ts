import type { Catalog, Policy } from '@sluice/core'
import type { Flaw } from '../flaw.js'
import type { PluginPlan } from '../plan-plugin.js'

/** What became of each name under `plugins`: the plugin that it stands for, or why there is none. */
export type PluginSet = ReadonlyMap<string, PluginPlan | Flaw>

/** The plugins that can be used, in the order of the document. */
export function usablePlugins(set: PluginSet): readonly PluginPlan[] {
  return [...set.values()].filter((plugin) => 'policies' in plugin)
}

/**
 * The catalog and what plugins say of their policies: enough to check and to show a document. The code of plugins is not
 * loaded for it, so none of them can be compiled.
 */
export function describedCatalog(catalog: Catalog, plugins: readonly PluginPlan[]): Catalog {
  if (plugins.length === 0) return catalog
  return extendedCatalog(
    catalog,
    plugins.flatMap(({ name, policies }) =>
      policies.map((policy) => ({
        ...policy,
        compile: () => {
          throw new Error(`the plugin '${name}' is described and not loaded`)
        },
      })),
    ),
  )
}

/** The catalog with more policies; its other parts stay as they are. */
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
