import type { PluginPlan } from '@sluice/config'
import type { LogIdentity } from '@sluice/core'
import type { RolloutReport } from './apply-result.js'
import type { Origin } from './deploy-history.js'

/** What `GET /v1/status` answers. */
export interface SupervisorStatus {
  readonly version: string
  readonly pid: number
  /** ISO 8601. */
  readonly startedAt: string
  readonly uptimeMs: number
  /** Of the plan that serves; null before the first. */
  readonly digest: string | null
  readonly origin: Origin | null
  readonly ready: boolean
  /** Why not ready; null when ready. */
  readonly reason: string | null
  readonly draining: boolean
  readonly workers: readonly WorkerStatus[]
  readonly listeners: readonly ListenerStatus[]
  readonly admin: { readonly address: string; readonly url: string } | null
  /** Of `cache.serve`; null: the document has none. */
  readonly cacheServer: CacheServerStatus | null
  readonly lastRollout: RolloutReport | null
  /** The plugins of the document that serves. */
  readonly plugins: readonly PluginStatus[]
  /** What an operator should know: the last good document serves, the document has warnings. */
  readonly warnings: readonly string[]
}

/** A plugin whose policies can be used. */
export interface PluginStatus {
  readonly name: string
  readonly version: string
  /** Of the contract. */
  readonly contract: string
  /** The module that was imported. */
  readonly entry: string
  readonly policies: readonly string[]
}

/** Plugins as the status shows them. */
export function pluginStatuses(plugins: readonly PluginPlan[]): PluginStatus[] {
  return plugins.map(({ name, version, contract, entry, policies }) => ({
    name,
    version,
    contract,
    entry,
    policies: policies.map((policy) => policy.name),
  }))
}

/** One worker process. */
export interface WorkerStatus {
  readonly id: number
  /** Null while its slot waits to be filled again. */
  readonly pid: number | null
  readonly state: 'starting' | 'idle' | 'ready' | 'restarting' | 'stopped' | 'draining'
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  readonly restarts: number
  readonly rssBytes: number
  readonly loopLagMs: number
  /** Why it does not use the server of `state`, such as `does not answer`; null: it does, or has none. */
  readonly stateProblem: string | null
  readonly uptimeMs: number
  readonly log: LogIdentity
}

/** The cache server that the supervisor runs. */
export interface CacheServerStatus {
  /** Null while it waits to be started again. */
  readonly pid: number | null
  readonly state: 'starting' | 'ready' | 'restarting'
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly restarts: number
  readonly rssBytes: number
}

/** Where the gateway can be reached. */
export interface Addresses {
  /** Base address of the admin API. */
  readonly admin: string | null
  /** Null: the document has no address for metrics. */
  readonly metrics: string | null
  readonly listeners: readonly ListenerStatus[]
}

/** One listener with the port behind it. */
export interface ListenerStatus {
  readonly address: string
  readonly host: string
  readonly port: number
  readonly engine: 'uws' | 'node'
  readonly tls: boolean
  readonly url: string
}
