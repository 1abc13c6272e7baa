import { dirname, resolve } from 'node:path'
import type { Catalog } from '@sluice/core'
import { readYaml } from '@sluice/core/yaml'
import { listAt } from '../diagnostic/document-path.js'
import type { Issue } from '../diagnostic/issue.js'
import type { DocumentSource } from '../file/document-file.js'
import type { PluginPlan } from '../plan/plan-plugin.js'
import { splitRoutes } from '../read/route-parts.js'
import { locatePlugin, PluginProblem } from './locate-plugin.js'
import type { PluginSet } from './plugin-set.js'
import { probePlugin } from './probe-plugin.js'

const MAX_PLUGINS = 100
/** Result for documents without plugins. */
const NONE: PluginSet = new Map()

/**
 * Loads the plugins that a document names, before the document is checked. Never throws: problems are
 * returned per plugin.
 */
export async function readPlugins({ text, name }: DocumentSource, catalog: Catalog): Promise<PluginSet> {
  const parts = splitRoutes(text)
  const rest = parts === null ? text : parts.head + parts.tail
  // Most documents have no plugins and need not be parsed twice.
  if (!rest.includes('plugins')) return NONE
  const written = listAt(readYaml(rest).value, ['plugins'])
  const names = new Set(written.filter((entry) => typeof entry === 'string').slice(0, MAX_PLUGINS))
  const owners = new Map([...catalog.keys()].map((policy) => [policy, 'the gateway']))
  const set = new Map<string, PluginPlan | Issue>()
  for (const plugin of names) {
    const found = await readPlugin(plugin, dirname(resolve(name)))
    set.set(plugin, 'policies' in found ? withoutCollision(found, owners) : found)
  }
  return set
}

/** Loads one plugin. @param from folder where names are looked up */
export async function readPlugin(name: string, from: string): Promise<PluginPlan | Issue> {
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

/** Rejects a plugin that uses the name of an existing policy. */
function withoutCollision(plugin: PluginPlan, owners: Map<string, string>): PluginPlan | Issue {
  for (const policy of plugin.policies) {
    const owner = owners.get(policy.name)
    if (owner === undefined) continue
    const message = `the plugin '${plugin.name}' has a policy '${policy.name}', but ${owner} already has one with this name`
    return { message, remedy: 'use only one of them, or rename the policy of the plugin' }
  }
  for (const { name } of plugin.policies) owners.set(name, `the plugin '${plugin.name}'`)
  return plugin
}
