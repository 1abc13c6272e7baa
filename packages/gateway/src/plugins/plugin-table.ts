import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PluginPlan } from '@sluice/config'
import { extendedCatalog, formatReason, importPolicies } from '@sluice/config/serving'
import type { Catalog, Policy } from '@sluice/core'
import { type Announce, guardedPolicy } from './guarded-policy.js'
import { RunMarks } from './run-marks.js'

/** What a table needs of the worker. */
export interface PluginTableOptions {
  readonly worker: number
  readonly announce: Announce
}

/** A plugin that this process has imported; Node.js keeps its code for as long as the process lives. */
interface Loaded {
  readonly digest: string
  readonly policies: readonly Policy[]
}

/** The plugins of one process. */
export class PluginTable {
  readonly #marks: RunMarks
  readonly #announce: Announce
  readonly #loaded = new Map<string, Loaded>()

  constructor({ worker, announce }: PluginTableOptions) {
    this.#marks = new RunMarks(worker)
    this.#announce = announce
  }

  /** The catalog with the policies of plugins, ready to be compiled. @throws Error naming the plugin that cannot be loaded. */
  async extend(catalog: Catalog, plugins: readonly PluginPlan[]): Promise<Catalog> {
    if (plugins.length === 0) return catalog
    const policies: Policy[] = []
    for (const plugin of plugins) policies.push(...(await this.#policiesOf(plugin)))
    return extendedCatalog(catalog, policies)
  }

  close(): void {
    this.#marks.close()
  }

  async #policiesOf(plugin: PluginPlan): Promise<readonly Policy[]> {
    const { name, entry, digest } = plugin
    const known = this.#loaded.get(entry)
    if (known?.digest === digest) return known.policies
    if (known !== undefined) {
      throw new Error(`the plugin '${name}' has changed; only a new process can load it again`)
    }
    await this.#announce(`importing the plugin '${name}'`)
    try {
      const policies = await importPolicies(pathToFileURL(entry).href)
      const guarded = policies.map((policy) =>
        guardedPolicy(policy, plugin, { marks: this.#marks, announce: this.#announce }),
      )
      this.#checkNames(plugin, guarded)
      this.#loaded.set(entry, { digest, policies: guarded })
      return guarded
    } catch (error) {
      throw new Error(`the plugin '${name}' cannot be loaded from ${dirname(entry)}: ${formatReason(error)}`)
    }
  }

  /** Files that were exchanged since the document was checked. */
  #checkNames({ policies }: PluginPlan, loaded: readonly Policy[]): void {
    const names = new Set(loaded.map((policy) => policy.name))
    const missing = policies.find((policy) => !names.has(policy.name))
    if (missing !== undefined)
      throw new Error(`its policy '${missing.name}' is gone since the document was checked; deploy it again`)
  }
}
