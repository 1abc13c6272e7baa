import type { ConfigBundle } from '@sluice/config'
import type { LogIdentity, PurgeScope, StoredResponseFacts } from '@sluice/core'
import type { KnownService } from '../kubernetes/known-services.js'
import type { StateCall, StateResult } from '../state/state-calls.js'
import type { Sample } from '../telemetry/sample.js'

/**
 * Messages between the supervisor and a worker. A message with an `id` is answered by one message with the
 * same `id`. The supervisor sets a deadline for every request, so a late worker does no harm.
 *
 *     supervisor                          worker
 *                                     ◄── hello
 *     tickets(secret)                 ──► (again after each rotation)
 *     identity(worker)                ──►
 *     routes that it does not have    ──►
 *     prepare(epoch, bundle)          ──► prepared | failed
 *                                     ◄── plugin-code(what), while it prepares plugins
 *     activate(epoch) or discard      ──► activated | discarded
 *     ready(true)                     ──►
 *                                     ◄── heartbeat, every 500 ms
 *     beat                            ──► heartbeat, at once
 *     samples                         ──► samples
 *     targets(outages, services)      ──► targets
 *     responses(what)                 ──► responses
 *     step-traces(sessions)           ──► step-traces
 *                                     ◄── step-trace(session), for each traced request
 *                                     ◄── changed(uris), of stored responses
 *     changed(uris)                   ──►
 *                                     ◄── state(calls), requested by the worker
 *     state(results)                  ──►
 *     drain(deadlineMs), cut          ──► drained, then the process exits
 */
export type ToWorker =
  /**
   * Sent once, before anything else: the worker's number and the gateway's secret (StateStores). A spare
   * waits for it with its modules loaded.
   */
  | { readonly kind: 'identity'; readonly worker: number; readonly secret: Uint8Array }
  /** Secret of session tickets (docs/internals/adr/0052); replaces the previous one. */
  | { readonly kind: 'tickets'; readonly secret: Uint8Array }
  | RoutesMessage
  | PrepareMessage
  | { readonly kind: 'activate'; readonly id: number; readonly epoch: number }
  | { readonly kind: 'discard'; readonly id: number; readonly epoch: number }
  | { readonly kind: 'ready'; readonly isReady: boolean }
  /** Asks a quiet worker for a heartbeat. A busy event loop reads its channel long before its timers. */
  | { readonly kind: 'beat' }
  | { readonly kind: 'samples'; readonly id: number }
  | TargetsMessage
  /** Purges stored responses, or lists those of a key. */
  | { readonly kind: 'responses'; readonly id: number; readonly what: ResponsesQuery }
  | ChangedMessage
  /** Open step traces; replaces the previous message. */
  | { readonly kind: 'step-traces'; readonly id: number; readonly sessions: readonly StepTraceSession[] }
  /** Answers the calls of the message with this `id`, in order. */
  | { readonly kind: 'state'; readonly id: number; readonly results: readonly StateResult[] }
  | DrainMessage
  /** Ends the current drain immediately. */
  | { readonly kind: 'cut' }

/** Asks a worker to finish its requests and exit. */
export interface DrainMessage {
  readonly kind: 'drain'
  readonly id: number
  readonly deadlineMs: number
  /** True if workers of another version serve on the same ports. */
  readonly isReplaced: boolean
}

/** Routes as JSON texts, which later bundles reference by number. */
export interface RoutesMessage {
  readonly kind: 'routes'
  readonly routes: readonly (readonly [number: number, text: string])[]
}

/** A bundle to compile, with the actual port of every listener whose address says port 0. */
export interface PrepareMessage {
  readonly kind: 'prepare'
  readonly id: number
  readonly epoch: number
  readonly bundle: ConfigBundle
  /** Route numbers of the bundle. */
  readonly routes: Uint32Array
  /** Numbers of routes that neither this bundle nor the active one uses. */
  readonly forgotten: readonly number[]
  readonly ports: Readonly<Record<string, number>>
}

/** A purge or lookup of a worker's stored responses. */
export type ResponsesQuery = { readonly purge: PurgeScope } | { readonly key: string }

/** A step trace for which workers record requests. */
export interface StepTraceSession {
  readonly id: number
  /** Route to trace, or null for all. */
  readonly route: string | null
  /** Condition for the requests to trace, or null for all. */
  readonly when: string | null
  /** Maximum number of traces per worker. */
  readonly count: number
}

/** State of all targets; replaces the previous message. */
export interface TargetsMessage extends TargetFacts {
  readonly kind: 'targets'
  readonly id: number
}

/** Target states known to every worker. */
export interface TargetFacts {
  /** Targets that are out of service. */
  readonly outages: readonly TargetOutage[]
  /** Kubernetes Services used as targets. */
  readonly services: readonly KnownService[]
}

/** Initial state: nothing is known of any target. */
export const NO_TARGET_FACTS: TargetFacts = { outages: [], services: [] }

/** A target that is drained, unhealthy or both. */
export interface TargetOutage {
  readonly upstream: string
  /** Origin of the target. */
  readonly target: string
  readonly isDrained: boolean
  readonly isHealthy: boolean
}

/** Message from a worker. */
export type FromWorker =
  | { readonly kind: 'hello' }
  | PluginCodeMessage
  | HeartbeatMessage
  | StateMessage
  | ChangedMessage
  | StepTraceMessage
  | Answer

/** URIs changed by a worker's requests. The other workers invalidate their stored responses. */
export interface ChangedMessage {
  readonly kind: 'changed'
  readonly uris: readonly string[]
}

/** A traced request, as JSON. */
export interface StepTraceMessage {
  readonly kind: 'step-trace'
  readonly session: number
  readonly trace: string
}

/** Plugin code about to run. If it hangs, this is the only way to know where. */
export interface PluginCodeMessage {
  readonly kind: 'plugin-code'
  readonly what: string
}

/** Calls of the state store that the supervisor holds for all workers. The worker assigns the `id`. */
export interface StateMessage {
  readonly kind: 'state'
  readonly id: number
  readonly calls: readonly StateCall[]
}

/** Answer to a request of the supervisor. */
export type Answer =
  | { readonly kind: 'prepared'; readonly id: number }
  | { readonly kind: 'activated'; readonly id: number; readonly digest: string }
  | { readonly kind: 'discarded'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
  | { readonly kind: 'targets'; readonly id: number }
  | {
      readonly kind: 'responses'
      readonly id: number
      readonly purged: number
      readonly found: readonly StoredResponseFacts[]
    }
  | { readonly kind: 'samples'; readonly id: number; readonly samples: readonly Sample[] }
  /** Numbers of matching requests that were not traced, for the sessions that ended. */
  | {
      readonly kind: 'step-traces'
      readonly id: number
      readonly lost: readonly (readonly [session: number, lost: number])[]
    }
  | DrainedMessage

/** Final message of a worker that was asked to exit. */
export interface DrainedMessage {
  readonly kind: 'drained'
  readonly id: number
  /** Number of requests cut at the deadline. */
  readonly cut: number
  readonly samples: readonly Sample[]
  readonly log: LogIdentity
}

/** Sign of life. A worker that stops sending it is replaced. */
export interface HeartbeatMessage {
  readonly kind: 'heartbeat'
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  readonly log: LogIdentity
  readonly rssBytes: number
  /** Longest delay of the event loop since the last heartbeat, in milliseconds. */
  readonly loopLagMs: number
  /** Reason why it does not use the `state` server. Null if it does, or has none. */
  readonly stateProblem: string | null
}

/** Environment variable of a worker: version to report. */
export const WORKER_VERSION_ENV = 'GW_WORKER_VERSION'
/** Environment variable of a worker: fleet file of its supervisor. */
export const FLEET_FILE_ENV = 'GW_FLEET_FILE'
/** Environment variable of a worker: instance of the supervisor that started it. */
export const FLEET_INSTANCE_ENV = 'GW_FLEET_INSTANCE'
/** Environment of a supervisor and its workers: the process id of the supervisor that they are to replace. */
export const REPLACES_ENV = 'GW_REPLACES'
