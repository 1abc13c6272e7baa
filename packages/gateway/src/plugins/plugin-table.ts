import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PluginPlan } from '@sluice/config'
import { extendedCatalog, formatReason, importPolicies } from '@sluice/config/serving'
import type { Catalog, Policy } from '@sluice/core'
import { type Announce, guardedPolicy } from './guarded-policy.js'
import { RunMarks } from './run-marks.js'

/** Options for `PluginTable`. */
export interface PluginTableOptions {
  readonly worker: number
  readonly announce: Announce
}

/** An imported plugin. Node.js keeps its code until the process exits. */
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

  /**
   * Returns the catalog extended by the policies of plugins.
   * @throws Error naming a plugin that cannot be loaded.
   */
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
    if (known !== undefined)
      throw new Error(`the plugin '${name}' has changed; it can only be loaded again by a new process`)
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
      throw new Error(`cannot load the plugin '${name}' from ${dirname(entry)}: ${formatReason(error)}`)
    }
  }

  /**
   * Checks that the plugin still has the planned policies: its files may have changed since the document was
   * checked.
   */
  #checkNames({ policies }: PluginPlan, loaded: readonly Policy[]): void {
    const names = new Set(loaded.map((policy) => policy.name))
    const missing = policies.find((policy) => !names.has(policy.name))
    if (missing !== undefined)
      throw new Error(
        `its policy '${missing.name}' was removed after the document was checked; deploy the document again`,
      )
  }
}
