import type { Plan } from '@sluice/config'
import { type Catalog, type CompileEnv, LocalCache, MemoryStore } from '@sluice/core'
import { SnapshotEnv } from '../compile/compile-env.js'
import { type Closer, SharedTable } from '../lib/shared-table.js'
import { ThreadPool } from '../lib/threads/thread-pool.js'
import { PluginTable, type PluginTableOptions } from '../plugins/plugin-table.js'
import { memoryStores } from '../state/stores.js'
import { Metrics } from '../telemetry/metrics.js'
import { systemNetwork } from '../upstream/transport/network.js'

/**
 * Provides an environment for compiling policies as a snapshot would, and releases everything they opened.
 */
export async function withTrialEnv<T>(catalog: Catalog, work: (env: CompileEnv) => Promise<T>): Promise<T> {
  const closers: Closer[] = []
  const threads = new ThreadPool(1, () => {})
  try {
    const shared = new SharedTable(() => {})
    const network = systemNetwork()
    const cache = new LocalCache(new MemoryStore())
    const kept = { shared, threads, network, cache, state: memoryStores(), metrics: new Metrics() }
    return await work(new SnapshotEnv({ ...kept, catalog, closers, report: () => {}, isTrial: true }))
  } finally {
    for (const close of closers) close()
    await threads.close()
  }
}

interface PluginTrial extends Pick<PluginTableOptions, 'announce'> {
  readonly plan: Plan
  readonly catalog: Catalog
}

/**
 * Like `withTrialEnv`, with the policies of the plan's plugins in the catalog.
 * @throws Error naming a plugin that cannot be loaded.
 */
export async function withPlugins<T>(
  { plan, catalog, announce }: PluginTrial,
  work: (env: CompileEnv, catalog: Catalog) => Promise<T>,
): Promise<T> {
  const plugins = new PluginTable({ worker: 0, announce })
  try {
    const extended = await plugins.extend(catalog, plan.plugins)
    return await withTrialEnv(extended, (env) => work(env, extended))
  } finally {
    plugins.close()
  }
}
