import type { ConfigBundle } from '@sluice/config'
import type { LogIdentity, PurgeScope, StoredResponseFacts } from '@sluice/core'
import type { Sample } from '../telemetry/sample.js'
import type { StepTraceSession, TargetFacts } from './messages.js'

/**
 * The part of a worker that serves traffic. The worker process drives one according to the supervisor's
 * messages; tests can create several.
 */
export interface DataPlane {
  /**
   * Compiles a bundle, and opens its listeners at new addresses. Traffic is unaffected until `activate`.
   * @throws Error naming every reason; everything is undone then.
   */
  prepare(bundle: ConfigBundle): Promise<Prepared>
  /** Digest of the active bundle, or null before the first activation. */
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  /** Sets the result of /-/readyz. Once it is false, every response asks its client to reconnect. */
  setReady(isReady: boolean): void
  /** Checks how busy the event loop is; called about 50 times per second. */
  onLoopCheck(): void
  /** Sets the targets that are out of service (all others are in service) and the pods of Services. */
  setTargets(targets: TargetFacts): void
  /** Reason why the `state` server is not used, or null. */
  readonly stateProblem: string | null
  readonly responses: KeptResponses
  /**
   * Sets the open step traces. `send` gets each traced request as JSON and returns false if it cannot be sent. Returns
   * the number of matching requests that were not traced, for each session that ended.
   */
  setStepTraces(sessions: readonly StepTraceSession[], send: SendStepTrace): [session: number, lost: number][]
  samples(): Sample[]
  logIdentity(): LogIdentity
  /**
   * Closes the listeners, answers remaining requests with `Connection: close` and waits for requests in
   * flight. At the deadline it cuts the rest. It flushes the log last. Resolves with the number of requests
   * cut.
   * @param isReplaced true if other workers serve on the same ports. /-/readyz then does not change, and idle
   * connections have until the deadline for their next request. Default: false.
   */
  drain(deadlineMs: number, isReplaced?: boolean): Promise<number>
  /** Ends the current drain as if its deadline had passed. */
  cut(): void
}

/** Sends the trace of a request. Returns false if too many wait to be sent. */
export type SendStepTrace = (session: number, trace: string) => boolean

/** Stored responses, as operators can access them. */
export interface KeptResponses {
  /** Deletes the selected responses and returns their number. */
  purge(scope: PurgeScope): number
  find(key: string): readonly StoredResponseFacts[]
  /** Returns the URIs changed by requests of this worker since the last call. */
  takeChanged(): readonly string[]
  /** Invalidates URIs changed by requests of another worker. */
  invalidate(uris: readonly string[]): void
}

/** A bundle ready to be activated on this worker. Call exactly one of `activate` and `discard`. */
export interface Prepared {
  /**
   * Opens the listeners that `prepare` did not open, serves the bundle, and closes removed listeners. Resolves when new
   * connections no longer reach the removed ones.
   * @throws Error if a listener cannot be opened; the worker must end then.
   */
  activate(): Promise<void>
  discard(): void
}
