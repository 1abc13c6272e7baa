import type { ErrorCode } from './errors.js'
import { PolicyRun } from './policy-run.js'

/**
 * What became of a request whose attempt failed. It went on: to another target (`moved`), once more on a new connection
 * (`resent`), again after a wait because of `retry.on` (`repeated`), or with other credentials (`renewed`). Or the failure stands, because retries are off
 * or do not cover it (`not-covered`), of the method, the body, the number of attempts, the budget, because no other
 * target is available, the target asks for a longer wait, or `timeouts.total` ends before.
 */
export type RetryDecision =
  | 'moved'
  | 'resent'
  | 'repeated'
  | 'renewed'
  | 'not-covered'
  | 'not-idempotent'
  | 'body-sent'
  | 'attempts-used'
  | 'budget-spent'
  | 'no-target'
  | 'retry-after'
  | 'out-of-time'

/** An attempt that failed. */
export interface FailedTry {
  /** Origin of the target. */
  readonly addr: string
  /** From the choice of the target to the failure. */
  readonly ms: number
  /** Null: the target has answered with `status`. */
  readonly code: ErrorCode | null
  /** 0: there was no answer. */
  readonly status: number
  readonly reason: string
  readonly retry: RetryDecision
}

/** The connections of a worker to an upstream. */
export interface PoolState {
  /** Those that carry a request, or are being opened for one. */
  readonly busy: number
  readonly free: number
  /** Requests that wait for one. */
  readonly pending: number
}

/** No more policies of an exchange are logged. */
const MAX_POLICIES = 32

/** What the traffic log says of some exchanges only: of attempts that failed, of failures, of a chain that is traced. */
export class AttemptTrace {
  readonly tries: FailedTry[] = []
  /** How the connections to the upstream were when the exchange failed; null when it did not, or had none. */
  pool: PoolState | null = null
  /** The longest delay of the event loop just before the failure, ms. */
  loopLagMs = 0
  /** In the order in which they were reached; null unless the chain is traced. */
  readonly policies: PolicyRun[] | null
  /** The policy that was begun last; null unless the chain is traced. */
  running: PolicyRun | null = null

  constructor(isTraced: boolean) {
    this.policies = isTraced ? [] : null
  }

  /** A phase of a policy begins. */
  begin(id: string, nowMono: number): PolicyRun {
    const runs = this.policies ?? []
    let run = runs.find((known) => known.id === id)
    if (run === undefined) {
      run = new PolicyRun(id)
      if (runs.length < MAX_POLICIES) runs.push(run)
    }
    run.begin(nowMono)
    this.running = run
    return run
  }

  /** The exchange is over: what still runs had its time. */
  close(nowMono: number): void {
    if (this.policies === null) return
    for (const run of this.policies) run.giveUp(nowMono)
  }
}
