import type { ListenerPlan, PluginPlan } from '@sluice/config'
import type { LogIdentity } from '@sluice/core'
import { addressText, type Ports } from '../listeners/listener-ports.js'
import type { RolloutReport } from '../rollout/apply-result.js'
import type { Origin } from '../rollout/deploy-history.js'

/** Response of `GET /v1/status`. */
export interface SupervisorStatus {
  readonly version: string
  readonly pid: number
  /** Start time, ISO 8601. */
  readonly startedAt: string
  readonly uptimeMs: number
  /** Digest of the active plan, or null before the first plan is active. */
  readonly digest: string | null
  readonly origin: Origin | null
  readonly ready: boolean
  /** Reason for not being ready, or null if ready. */
  readonly reason: string | null
  readonly draining: boolean
  readonly workers: readonly WorkerStatus[]
  readonly listeners: readonly ListenerStatus[]
  readonly admin: { readonly address: string; readonly url: string } | null
  /** Status of `cache.serve`, or null if the document has none. */
  readonly cacheServer: CacheServerStatus | null
  /** Connection to the controller, or null if the gateway has none. */
  readonly control: ControlStatus | null
  readonly lastRollout: RolloutReport | null
  /** Plugins of the active document. */
  readonly plugins: readonly PluginStatus[]
  /** Warnings for operators, such as those of the document, or that the last valid document is active. */
  readonly warnings: readonly string[]
}

/** Connection to a controller. */
export interface ControlStatus {
  readonly group: string
  /** Name of this gateway in the fleet. */
  readonly name: string
  /** Id of this gateway in its data directory. */
  readonly member: string
  /** Controller of the connection, or of the last attempt. */
  readonly url: string
  readonly connected: boolean
  /** Time since which it is connected or not, ISO 8601. */
  readonly since: string
  /** Reason why it is not connected, or null. */
  readonly problem: string | null
  /** Time since the last message of the controller in milliseconds, or null before the first one. */
  readonly lastContactMs: number | null
  /** Number of the active deploy; 0 if there is none. */
  readonly deploy: number
  /** Digest of the active bundle, or null. */
  readonly digest: string | null
  /** Reason why something else than the active bundle is served, or null. */
  readonly drift: string | null
}

/** A loaded plugin. */
export interface PluginStatus {
  readonly name: string
  readonly version: string
  readonly contract: string
  /** Module that was imported. */
  readonly entry: string
  readonly policies: readonly string[]
}

/** Returns the status of each plugin. */
export function pluginStatuses(plugins: readonly PluginPlan[]): PluginStatus[] {
  return plugins.map(({ name, version, contract, entry, policies }) => ({
    name,
    version,
    contract,
    entry,
    policies: policies.map((policy) => policy.name),
  }))
}

/** A worker process. */
export interface WorkerStatus {
  readonly id: number
  /** Process id, or null while the slot waits for a restart. */
  readonly pid: number | null
  readonly state: 'starting' | 'idle' | 'ready' | 'restarting' | 'stopped' | 'draining'
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  readonly restarts: number
  readonly rssBytes: number
  readonly loopLagMs: number
  /**
   * Reason why the worker does not use the `state` server, such as `does not answer`. Null if it uses the server,
   * or if the document has none.
   */
  readonly stateProblem: string | null
  readonly uptimeMs: number
  readonly log: LogIdentity
}

/** The cache server that the supervisor runs. */
export interface CacheServerStatus {
  /** Process id, or null while it waits for a restart. */
  readonly pid: number | null
  readonly state: 'starting' | 'ready' | 'restarting'
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly restarts: number
  readonly rssBytes: number
}

/** Base URLs of the gateway. */
export interface Addresses {
  /** URL of the admin API, or null. */
  readonly admin: string | null
  /** URL for metrics, or null if the document has no address for them. */
  readonly metrics: string | null
  readonly listeners: readonly ListenerStatus[]
}

/** A listener with its actual port. */
export interface ListenerStatus {
  readonly address: string
  readonly host: string
  readonly port: number
  readonly engine: 'uws' | 'node'
  readonly tls: boolean
  readonly url: string
}

/** Returns the listeners of a plan with their actual ports. */
export function listenerStatuses(listeners: readonly ListenerPlan[], ports: Ports): ListenerStatus[] {
  return listeners.map(({ address, host, engine, tls, port: planned }) => {
    const port = ports[address] ?? planned
    const url = `${tls === null ? 'http' : 'https'}://${addressText(host, port)}`
    return { address, host, port, engine, tls: tls !== null, url }
  })
}
