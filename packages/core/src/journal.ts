import type { ErrorCode } from './errors.js'

/** An attempt that failed and was followed by another. */
export interface FailedTry {
  /** Origin of the target. */
  readonly addr: string
  /** From the choice of the target to the failure. */
  readonly ms: number
  readonly code: ErrorCode
  readonly reason: string
}

/**
 * How a policy took an exchange: `pass` it went on, `skip` its condition did not hold, `stop` it answered, `error` it
 * threw.
 */
export type PolicyVerdict = 'pass' | 'skip' | 'stop' | 'error'

/** What a policy did and took in all its phases. */
export interface PolicyRun {
  readonly id: string
  ms: number
  verdict: PolicyVerdict
}

/** The connections of a worker to an upstream. */
export interface PoolState {
  /** Those that carry a request, or are being opened for one. */
  readonly busy: number
  readonly free: number
  /** Requests that wait for one. */
  readonly pending: number
}

/** No more policies of an exchange are told. */
const MAX_POLICIES = 32

/** What the traffic log tells of some exchanges only: of attempts that failed, of failures, of a chain that is traced. */
export class Journal {
  readonly tries: FailedTry[] = []
  /** How the connections to the upstream were when the exchange failed; null when it did not, or had none. */
  pool: PoolState | null = null
  /** The longest delay of the event loop just before the failure, ms. */
  loopLagMs = 0
  /** In the order in which they were reached; null unless the chain is traced. */
  readonly policies: PolicyRun[] | null
  /** What the policy that runs now came to, where its answer does not tell. */
  mark: PolicyVerdict | null = null

  constructor(isTraced: boolean) {
    this.policies = isTraced ? [] : null
  }

  /** Counts a run of a policy; of the verdicts of several phases the gravest stands. */
  ran(id: string, ms: number, verdict: PolicyVerdict): void {
    const runs = this.policies
    if (runs === null) return
    const known = runs.find((run) => run.id === id)
    if (known === undefined) {
      if (runs.length < MAX_POLICIES) runs.push({ id, ms, verdict })
      return
    }
    known.ms += ms
    if (GRAVITY[verdict] > GRAVITY[known.verdict]) known.verdict = verdict
  }
}

const GRAVITY: Readonly<Record<PolicyVerdict, number>> = { skip: 0, pass: 1, stop: 2, error: 3 }
