import type { Plan } from '@sluice/config'
import type { LogIdentity } from '@sluice/core'
import type { ApplyRequest, ApplyResult } from '../supervisor/apply-result.js'
import type { Deploy } from '../supervisor/deploy-history.js'
import type { HeldRollout } from '../supervisor/held-rollout.js'
import type { Bans } from '../supervisor/limits/bans.js'
import type { LimitCounters } from '../supervisor/limits/limit-counters.js'
import type { SupervisorStatus } from '../supervisor/status.js'
import type { DrainRequest, TargetStatus } from '../supervisor/targets/target-states.js'
import type { ResponsesAnswer } from '../supervisor/worker-handle.js'
import type { Sample } from '../telemetry/sample.js'
import type { ResponsesQuestion } from '../worker/messages.js'

/** Who asks for a write, and the note they leave. */
export type WriteRequest = Pick<ApplyRequest, 'dryRun' | 'ifMatch' | 'note' | 'actor' | 'save' | 'agree'>

/** What the admin API shows and changes; the supervisor, or a small object in a test. */
export interface AdminBackend {
  status(): SupervisorStatus
  /** The plan that serves, with every secret replaced; null before the first. */
  plan(): Promise<{ readonly digest: string; readonly plan: Plan } | null>
  /** Fresh numbers of all workers and the supervisor. */
  samples(): Promise<readonly Sample[]>
  /** The Prometheus text; null when metrics are off. */
  metrics(): Promise<string | null>
  /** What is known of the targets of an upstream, in the order of its plan; empty when there is no such upstream. */
  targetsOf(upstream: string): readonly TargetStatus[]
  /** The counts of rate limits and quotas; all of it rejects with StateUnavailable while their store does not answer. */
  readonly limits: Pick<LimitCounters, 'get' | 'reset' | 'set'>
  /** Whom `client-ban` has banned; rejects in the same way. */
  readonly bans: Pick<Bans, 'list' | 'lift'>
  /** Takes targets out of service or back. False: there is no such upstream or target. */
  drainTargets(request: DrainRequest): Promise<boolean>
  /** Asks every worker about the responses it keeps, or has it forget some; null for one that did not answer in time. */
  askResponses(what: ResponsesQuestion): Promise<readonly (ResponsesAnswer | null)[]>
  logIdentity(): LogIdentity
  deploys(): readonly Deploy[]
  apply(text: string, request: WriteRequest): Promise<ApplyResult>
  /** Where a document waits that is prepared and not activated. */
  readonly held: Pick<HeldRollout, 'prepare' | 'settle'>
  /** Applies an earlier document: a deploy's id, or null for the one before. Null: there is none. */
  rollback(to: string | null, request: WriteRequest): Promise<ApplyResult | null>
  /** Begins to end the gateway. */
  drain(actor: string): void
}
