import { dirname, resolve } from 'node:path'
import type { Catalog } from '@sluice/core'
import type { DocumentSource } from '../document-file.js'
import { listAt } from '../document-path.js'
import type { Flaw } from '../flaw.js'
import type { PluginPlan } from '../plan-plugin.js'
import { splitRoutes } from '../route-parts.js'
import { readYaml } from '../source/yaml-source.js'
import { locatePlugin, PluginProblem } from './locate-plugin.js'
import type { PluginSet } from './plugin-set.js'
import { probePlugin } from './probe-plugin.js'

const MAX_PLUGINS = 100
/** A file of a document begins in its folder, one of stdin in the working directory. */
const NONE: PluginSet = new Map()

/**
 * Looks at the plugins that a document names, before the document is checked. Never throws: what is wrong with one of
 * them stands in its place.
 */
export async function readPlugins({ text, name }: DocumentSource, catalog: Catalog): Promise<PluginSet> {
  const parts = splitRoutes(text)
  const rest = parts === null ? text : parts.head + parts.tail
  // Most documents have none, and are not parsed twice.
  if (!rest.includes('plugins')) return NONE
  const written = listAt(readYaml(rest).value, ['plugins'])
  const names = new Set(written.filter((entry) => typeof entry === 'string').slice(0, MAX_PLUGINS))
  const owners = new Map([...catalog.keys()].map((policy) => [policy, 'the gateway itself']))
  const set = new Map<string, PluginPlan | Flaw>()
  for (const plugin of names) {
    const found = await readPlugin(plugin, dirname(resolve(name)))
    set.set(plugin, 'policies' in found ? withoutCollision(found, owners) : found)
  }
  return set
}

/** One plugin. @param from the folder where names are looked up. */
export async function readPlugin(name: string, from: string): Promise<PluginPlan | Flaw> {
  try {
    return await probePlugin(await locatePlugin(name, from))
  } catch (error) {
    if (!(error instanceof PluginProblem)) throw error
    return {
      message: `the plugin '${name}' cannot be used: ${error.message}`,
      remedy: error.remedy,
      ofMachine: true,
    }
  }
}

/** A name belongs to whoever was first. */
function withoutCollision(plugin: PluginPlan, owners: Map<string, string>): PluginPlan | Flaw {
  for (const policy of plugin.policies) {
    const owner = owners.get(policy.name)
    if (owner === undefined) continue
    const message = `the plugin '${plugin.name}' has a policy '${policy.name}', which is also the name of one of ${owner}`
    return { message, remedy: 'use only one of them, or have the plugin rename its policy' }
  }
  for (const { name } of plugin.policies) owners.set(name, `the plugin '${plugin.name}'`)
  return plugin
}
