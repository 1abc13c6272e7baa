import type { Plan } from '@sluice/config'
import type { LogIdentity } from '@sluice/core'
import type { Sample } from '../telemetry/sample.js'
import type { MetricsFormat } from '../telemetry/text-format.js'
import type { ResponsesQuery } from '../worker/messages.js'
import type { DrainRequest, TargetStatus } from './health/target-states.js'
import type { Bans } from './limits/bans.js'
import type { LimitCounters } from './limits/limit-counters.js'
import type { RecordSearch } from './records/record-search.js'
import type { ApplyRequest, ApplyResult } from './rollout/apply-result.js'
import type { Deploy } from './rollout/deploy-history.js'
import type { DocumentQuestions } from './rollout/document-questions.js'
import type { HeldRollout } from './rollout/held-rollout.js'
import type { SupervisorStatus } from './status/status.js'
import type { StepTraces } from './step-traces.js'
import type { Succession } from './succession.js'
import type { ResponsesAnswer } from './workers/worker-handle.js'

/** Options of a write request and its caller. */
export type WriteRequest = Pick<
  ApplyRequest,
  'dryRun' | 'ifMatch' | 'note' | 'actor' | 'force' | 'save' | 'confirm'
>

/** Backend of the admin API: the supervisor, or a small object in a test. */
export interface AdminBackend {
  status(): SupervisorStatus
  /** Returns the active plan with all secrets masked, or null before the first. */
  plan(): Promise<{ readonly digest: string; readonly plan: Plan } | null>
  /** Returns current metrics of all workers and the supervisor. */
  samples(): Promise<readonly Sample[]>
  /** Returns the metrics as text, or null if metrics are off. */
  metrics(format: MetricsFormat): Promise<string | null>
  /** Returns the targets of an upstream in plan order; empty if there is no such upstream. */
  targetsOf(upstream: string): readonly TargetStatus[]
  /**
   * Counts of rate limits and quotas. All methods reject with StateUnavailable while the store does not
   * answer.
   */
  readonly limits: Pick<LimitCounters, 'get' | 'reset' | 'set'>
  /** Bans of `client-ban`. Rejects in the same way. */
  readonly bans: Pick<Bans, 'list' | 'lift'>
  /**
   * Drains targets or returns them to service. Resolves with false if there is no such upstream or target.
   */
  drainTargets(request: DrainRequest): Promise<boolean>
  /**
   * Queries or purges the stored responses of every worker. The result is null for a worker that did not
   * answer in time.
   */
  queryResponses(what: ResponsesQuery): Promise<readonly (ResponsesAnswer | null)[]>
  logIdentity(): LogIdentity
  /** Searches the traffic log. */
  readonly records: Pick<RecordSearch, 'search'>
  deploys(): readonly Deploy[]
  /** Answers questions about the active document and earlier ones. */
  readonly questions: Pick<DocumentQuestions, 'explain' | 'explainRecord' | 'document' | 'diffDeploys'>
  /** Step traces of all workers. */
  readonly stepTraces: Pick<StepTraces, 'hasRoom' | 'start'>
  apply(text: string, request: WriteRequest): Promise<ApplyResult>
  /** Holds a prepared document until it is activated or discarded. */
  readonly held: Pick<HeldRollout, 'prepare' | 'settle'>
  /**
   * Applies an earlier document: that of a deploy's id, or null for the previous one that was not rolled back. Resolves
   * with null if there is none.
   */
  rollback(to: string | null, request: WriteRequest): Promise<ApplyResult | null>
  /** Upgrades. While one is running, the configuration and the limits must not change. */
  readonly succession: Pick<Succession, 'isUpgrading' | 'upgrade'>
  /** Starts to drain and stop the gateway. */
  drain(actor: string): void
}
