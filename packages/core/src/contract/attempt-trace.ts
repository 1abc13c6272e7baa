import type { ErrorCode } from './errors.js'

/**
 * Result of a policy: `pass` (continued), `skip` (its condition was false), `stop` (it sent a response), or
 * `error` (it threw, or had not finished when the exchange ended).
 */
export type PolicyVerdict = 'pass' | 'skip' | 'stop' | 'error'

const GRAVITY: Readonly<Record<PolicyVerdict, number>> = { skip: 0, pass: 1, stop: 2, error: 3 }

/** Phase of a hook, named in traffic records. */
export type HookPhase = 'request' | 'request_body' | 'attempt' | 'response' | 'response_body'

/** One run of a policy's hook that took long enough for a span of its own. */
export interface PolicySpan {
  readonly id: string
  readonly phase: HookPhase
  readonly startedMono: number
  readonly ms: number
  readonly verdict: PolicyVerdict
  /** As in `PolicyRun`. */
  readonly note: string
}

/** Duration in milliseconds from which a hook has a span. */
const MIN_SPAN_MS = 0.1
/** Maximum number of spans of hooks per exchange. */
const MAX_SPANS = 32

/** Note for a policy that had not finished when the exchange ended. */
const UNANSWERED = 'unanswered'

/** Value of `#sinceMono` while the policy is not running. */
const IDLE = -1

/** Result and duration of one policy across all its phases. */
export class PolicyRun {
  readonly id: string
  ms = 0
  /** The most severe result of all phases. */
  verdict: PolicyVerdict = 'skip'
  /** Short reason why the policy stopped the exchange or failed. Empty if unknown. */
  note = ''
  /** Result of the current phase that overrides the one passed to `end`, or null. */
  mark: PolicyVerdict | null = null
  #sinceMono = IDLE
  #phase: HookPhase = 'request'
  readonly #trace: AttemptTrace

  constructor(id: string, trace: AttemptTrace) {
    this.id = id
    this.#trace = trace
  }

  /** Starts a phase. A previous phase that is still open is recorded as unanswered. */
  begin(nowMono: number, phase: HookPhase): void {
    this.abandon(nowMono)
    this.mark = null
    this.#phase = phase
    this.#sinceMono = nowMono
  }

  /** Ends the phase that began at `sinceMono`. Ignored if that phase was abandoned. */
  end(sinceMono: number, nowMono: number, verdict: PolicyVerdict, note = ''): void {
    if (sinceMono !== this.#sinceMono || sinceMono === IDLE) return
    this.#sinceMono = IDLE
    const ms = nowMono - sinceMono
    this.ms += ms
    const noted = this.mark ?? verdict
    if (ms >= MIN_SPAN_MS) {
      const reason = note === '' && noted === 'error' ? this.note : note
      const { id } = this
      this.#trace.noteSpan({
        id,
        phase: this.#phase,
        startedMono: sinceMono,
        ms,
        verdict: noted,
        note: reason,
      })
    }
    if (GRAVITY[noted] <= GRAVITY[this.verdict]) return
    this.verdict = noted
    if (note !== '') this.note = note
  }

  /** Records the current phase as unanswered, because the exchange no longer waits for it. */
  abandon(nowMono: number): void {
    this.end(this.#sinceMono, nowMono, 'error', UNANSWERED)
  }
}

/**
 * Decision about a request after one of its attempts failed. Four values mean that it was sent again:
 * - `moved`: to another target
 * - `resent`: on a new connection to the same target
 * - `repeated`: after a delay, because of `retry.on`
 * - `renewed`: with fresh credentials
 *
 * The other values give the reason why it was not:
 * - `not-covered`: retries are off or do not cover this failure
 * - `not-idempotent`: the method is not safe to repeat
 * - `body-sent`: the request body can no longer be replayed
 * - `attempts-used`: the maximum number of attempts is reached
 * - `budget-spent`: the retry budget is used up
 * - `no-target`: no other target is available
 * - `retry-after`: the target asked for a longer wait than the retry policy allows
 * - `out-of-time`: `timeouts.total` would expire first
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

/** A failed upstream attempt. */
export interface FailedTry {
  /** Origin of the target, such as `http://10.0.0.5:9000`. */
  readonly addr: string
  /** Start of the attempt, in milliseconds after the request arrived. */
  readonly atMs: number
  /** Time from choosing the target to the failure, in milliseconds. */
  readonly ms: number
  /** Error code of the failure, or null if the target answered with `status`. */
  readonly code: ErrorCode | null
  /** Status of the target's response, or 0 if there was no response. */
  readonly status: number
  readonly reason: string
  readonly retry: RetryDecision
}

/** Connections from one worker to an upstream. */
export interface PoolState {
  /** Connections that carry a request or are being opened for one. */
  readonly busy: number
  readonly free: number
  /** Requests that wait for a connection. */
  readonly pending: number
}

/** Maximum number of policies logged per exchange. */
const MAX_POLICIES = 32

/**
 * Details that the traffic log records for some exchanges only: failed attempts, failures and traced policy
 * chains.
 */
export class AttemptTrace {
  readonly tries: FailedTry[] = []
  /** State of the upstream's connections when the exchange failed, or null if it succeeded or used none. */
  pool: PoolState | null = null
  /** Longest event loop delay shortly before the failure, in milliseconds. */
  loopLagMs = 0
  /** Policies in the order in which they first ran, or null if the chain is not traced. */
  readonly policies: PolicyRun[] | null
  /** The policy that started last, or null if the chain is not traced. */
  running: PolicyRun | null = null
  /** Runs of hooks with a span of their own, in the order in which they ended; null if there are none. */
  spans: PolicySpan[] | null = null
  /** True if the first policies are not traced, so that the durations are no fair sample. */
  isPartial = false
  readonly #hasSpans: boolean

  /** @param hasSpans True if long runs of hooks are collected in `spans`. */
  constructor(isTraced: boolean, hasSpans = false) {
    this.policies = isTraced ? [] : null
    this.#hasSpans = hasSpans
  }

  /** Records that a policy starts a phase. */
  begin(id: string, nowMono: number, phase: HookPhase = 'request'): PolicyRun {
    const runs = this.policies ?? []
    let run = runs.find((known) => known.id === id)
    if (run === undefined) {
      run = new PolicyRun(id, this)
      if (runs.length < MAX_POLICIES) runs.push(run)
    }
    run.begin(nowMono, phase)
    this.running = run
    return run
  }

  /** Records a long run of a hook. */
  noteSpan(span: PolicySpan): void {
    if (!this.#hasSpans) return
    this.spans ??= []
    if (this.spans.length < MAX_SPANS) this.spans.push(span)
  }

  /** Ends the trace. Policies that are still running are recorded as unanswered. */
  close(nowMono: number): void {
    if (this.policies === null) return
    for (const run of this.policies) run.abandon(nowMono)
  }
}
