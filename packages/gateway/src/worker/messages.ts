import type { ConfigBundle } from '@sluice/config'
import type { LogIdentity, PurgeScope, StoredResponseFacts } from '@sluice/core'
import type { KnownService } from '../kubernetes/known-services.js'
import type { StateCall, StateResult } from '../state/state-calls.js'
import type { Sample } from '../telemetry/sample.js'

/**
 * What the supervisor and a worker say to each other. A message with an `id` is answered by one message with the same
 * `id`; the supervisor gives every question a deadline, so a worker may be as late as it likes without harm.
 *
 *     supervisor                          worker
 *                                     ◄── hello
 *     seat(worker)                    ──►
 *     routes, those that it does not have ──►
 *     prepare(epoch, bundle)            ──► prepared | failed
 *                                     ◄── doing(what), while it prepares with plugins
 *     activate(epoch) or discard      ──► activated | discarded
 *     ready(true)                     ──►
 *                                     ◄── heartbeat, every 500 ms
 *     beat                            ──► heartbeat, at once
 *     samples                         ──► samples
 *     targets(outages, services)      ──► targets
 *     responses(what)                 ──► responses
 *                                     ◄── changed(uris), of stored responses
 *     changed(uris)                   ──►
 *                                     ◄── state(calls), a question of the worker
 *     state(results)                  ──►
 *     drain(deadlineMs), cut          ──► drained, then the process ends
 */
export type ToWorker =
  /**
   * First of all, once: which worker it is from now on, and the secret of the gateway (StateStores). A spare waits for it
   * with its modules loaded.
   */
  | { readonly kind: 'seat'; readonly worker: number; readonly secret: Uint8Array }
  | RoutesMessage
  | PrepareMessage
  | { readonly kind: 'activate'; readonly id: number; readonly epoch: number }
  | { readonly kind: 'discard'; readonly id: number; readonly epoch: number }
  | { readonly kind: 'ready'; readonly isReady: boolean }
  /** Asked of a worker that has been silent for a while: a busy event loop reads its channel long before its timers. */
  | { readonly kind: 'beat' }
  | { readonly kind: 'samples'; readonly id: number }
  | TargetsMessage
  /** Forgets stored responses, or says what is stored under a key. */
  | { readonly kind: 'responses'; readonly id: number; readonly what: ResponsesQuestion }
  | ChangedMessage
  /** Answers the calls of the message with this `id`, in their order. */
  | { readonly kind: 'state'; readonly id: number; readonly results: readonly StateResult[] }
  | { readonly kind: 'drain'; readonly id: number; readonly deadlineMs: number }
  /** Ends a drain that is under way at once. */
  | { readonly kind: 'cut' }

/** Routes as JSON texts that bundles name by their numbers from now on. */
export interface RoutesMessage {
  readonly kind: 'routes'
  readonly routes: readonly (readonly [number: number, text: string])[]
}

/** The bundle to compile, with the real port of every listener whose address names port 0. */
export interface PrepareMessage {
  readonly kind: 'prepare'
  readonly id: number
  readonly epoch: number
  readonly bundle: ConfigBundle
  /** Route numbers of the bundle. */
  readonly routes: readonly number[]
  /** Numbers of routes that neither this bundle nor the one that serves has. */
  readonly forgotten: readonly number[]
  readonly ports: Readonly<Record<string, number>>
}

/** What is asked about the responses that a worker keeps. */
export type ResponsesQuestion = { readonly purge: PurgeScope } | { readonly key: string }

/** What the supervisor knows of targets; takes the place of what was sent before. */
export interface TargetsMessage extends TargetFacts {
  readonly kind: 'targets'
  readonly id: number
}

/** What holds of targets in every worker. */
export interface TargetFacts {
  /** All that are out of service. */
  readonly outages: readonly TargetOutage[]
  /** All Services of Kubernetes that targets stand for. */
  readonly services: readonly KnownService[]
}

/** Nothing is known of any target. */
export const NO_TARGET_FACTS: TargetFacts = { outages: [], services: [] }

/** A target that is drained, unhealthy or both. */
export interface TargetOutage {
  readonly upstream: string
  /** Its origin. */
  readonly target: string
  readonly isDrained: boolean
  readonly isHealthy: boolean
}

/** Everything a worker says. */
export type FromWorker =
  | { readonly kind: 'hello' }
  | DoingMessage
  | HeartbeatMessage
  | StateMessage
  | ChangedMessage
  | Answer

/** Requests of a worker have changed something at these URIs: the others forget what they keep of them. */
export interface ChangedMessage {
  readonly kind: 'changed'
  readonly uris: readonly string[]
}

/** What code of a plugin it is about to run: should it hang there, nobody else could say. */
export interface DoingMessage {
  readonly kind: 'doing'
  readonly what: string
}

/** Calls of the store that the supervisor holds for all workers; the `id` is the worker's own. */
export interface StateMessage {
  readonly kind: 'state'
  readonly id: number
  readonly calls: readonly StateCall[]
}

/** What ends a question of the supervisor. */
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
  | DrainedMessage

/** The last words of a worker that was asked to end. */
export interface DrainedMessage {
  readonly kind: 'drained'
  readonly id: number
  /** Requests cut at the deadline. */
  readonly cut: number
  readonly samples: readonly Sample[]
  readonly log: LogIdentity
}

/** The sign of life; a worker that stops sending it is replaced. */
export interface HeartbeatMessage {
  readonly kind: 'heartbeat'
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  readonly log: LogIdentity
  readonly rssBytes: number
  /** The longest the event loop was late since the last heartbeat. */
  readonly loopLagMs: number
  /** Why it does not use the server of `state`; null: it does, or has none. */
  readonly stateProblem: string | null
}

/** Environment of a worker: the version it reports. */
export const WORKER_VERSION_ENV = 'GW_WORKER_VERSION'
/** Environment of a worker: where a supervisor writes down that it serves, and which one started the worker. */
export const FLEET_FILE_ENV = 'GW_FLEET_FILE'
export const FLEET_INSTANCE_ENV = 'GW_FLEET_INSTANCE'
