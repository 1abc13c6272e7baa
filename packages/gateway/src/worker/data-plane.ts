import type { ConfigBundle } from '@sluice/config'
import type { LogIdentity, PurgeScope, StoredResponseFacts } from '@sluice/core'
import type { Sample } from '../telemetry/sample.js'
import type { TargetFacts } from './messages.js'

/**
 * What serves traffic in one worker. The worker process owns one and drives it from the supervisor's messages; tests
 * own as many as they like.
 */
export interface DataPlane {
  /**
   * Compiles a bundle and opens the listeners that are new in it. Traffic notices nothing until `activate`.
   * @throws Error whose message names every reason; nothing is left behind then.
   */
  prepare(bundle: ConfigBundle): Promise<Prepared>
  /** The digest that serves now, or null before the first activation. */
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  /** What /-/readyz answers from now on. Once it is false, every response asks its client to make another connection. */
  setReady(isReady: boolean): void
  /** Takes a delay of the event loop, ms; called some 50 times a second. */
  onLoopDelay(lateMs: number): void
  /** Which targets are out of service from now on, all others being in it, and which pods Services have. */
  setTargets(targets: TargetFacts): void
  /** Why the server of `state` is not used; null: it is, or there is none. */
  readonly stateProblem: string | null
  /** What policies keep of responses. */
  readonly responses: KeptResponses
  samples(): Sample[]
  logIdentity(): LogIdentity
  /**
   * Closes the listeners, answers what still arrives with `Connection: close`, waits for requests in flight up to
   * the deadline, cuts what is left, flushes the log. Resolves with the number of requests cut.
   */
  drain(deadlineMs: number): Promise<number>
  /** Ends a drain that is under way as if its deadline had come. */
  cut(): void
}

/** What of the responses that policies keep operators reach. */
export interface KeptResponses {
  /** Forgets what is meant; answers with how many responses that were. */
  purge(scope: PurgeScope): number
  find(key: string): readonly StoredResponseFacts[]
  /** URIs at which requests of this worker have changed something since it was asked last. */
  takeChanged(): readonly string[]
  /** Requests of another worker have changed something there. */
  invalidate(uris: readonly string[]): void
}

/** A bundle that is ready to serve on this worker; exactly one of the two is called. */
export interface Prepared {
  activate(): void
  discard(): void
}
