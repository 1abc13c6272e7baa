import type { EventStream } from '../http/event-stream.js'
import { AttemptTrace } from './attempt-trace.js'
import type { Capture } from './capture.js'

/** Traffic log entry for a call that a policy made to another server. */
export interface CallNote {
  /** Name from the configuration. */
  readonly name: string
  /** Start of the call, in milliseconds after the request arrived. */
  readonly atMs: number
  /** Time that the request waited for the call, in milliseconds. */
  readonly ms: number
  /** Status of the response, or 0 without a response. */
  readonly status: number
  /**
   * `ok`, `unexpected`, `queued` or `dropped` (the request does not wait for the call), or the kind of
   * failure.
   */
  readonly result: string
  /**
   * Source of the result: `call` (made by this request), `joined` (shared with another request), `cache`,
   * `shared` (cached by another worker), or `stale` (an expired value, because the call failed).
   */
  readonly from: 'call' | 'joined' | 'cache' | 'shared' | 'stale'
}

/** Maximum number of calls logged per exchange. */
export const MAX_CALL_NOTES = 32

/** Details of an exchange for the traffic log only. Empty for most exchanges. */
export class RecordNotes {
  /** Captured messages, or null if nothing is captured. */
  capture: Capture | null = null
  /** Failed attempts, connection state at a failure and traced policies. Null if nothing was noted. */
  trace: AttemptTrace | null = null
  /** Results and durations of the policies, for the log or for metrics; null if they are not traced. */
  policyTrace: AttemptTrace | null = null
  /** Counts for an event stream or a WebSocket connection. Null for other responses. */
  stream: EventStream | WebSocketCounts | null = null
  /**
   * Name of the applied limit with the fewest remaining tokens (see `noteLimit`). Empty if no limit applied.
   */
  limitName = ''
  limitRemaining = 0
  /** Reason for a policy's refusal, for the operator only. Empty if the error code is sufficient. */
  reason = ''
  /**
   * Cache result: `hit`, `stale`, `revalidated`, `coalesced`, `miss` or `bypass`. Empty if no cache applied.
   */
  cacheResult = ''
  /** Age of the stored response that was used, in seconds. */
  cacheAge = 0
  /** Calls that policies made to other servers, or null if no calls were made. */
  calls: CallNote[] | null = null

  /** Starts to trace the policies. @param isLogged true if the log record shows them. */
  tracePolicies(isLogged: boolean, hasSpans = false): void {
    this.policyTrace = new AttemptTrace(true, hasSpans)
    if (isLogged) this.trace = this.policyTrace
  }

  /** Starts to trace the policies in the middle of a chain, for their spans only. */
  tracePartOfPolicies(): AttemptTrace {
    this.policyTrace = new AttemptTrace(true, true)
    this.policyTrace.isPartial = true
    return this.policyTrace
  }

  noteCall(call: CallNote): void {
    this.calls ??= []
    if (this.calls.length < MAX_CALL_NOTES) this.calls.push(call)
  }
}

/** Counters of a WebSocket connection, and how it ended, for the traffic log. */
export class WebSocketCounts {
  /** Monotonic time of the protocol switch in milliseconds. */
  readonly sinceMono: number
  /** Messages without control frames, and bytes of all frames, from and to the client. */
  messagesIn = 0
  messagesOut = 0
  bytesIn = 0
  bytesOut = 0
  /**
   * First close code that was sent (RFC 6455 section 7.4). 1005: close without a code. 1006: the connection
   * was cut.
   */
  closeCode = 1006
  closedBy: 'client' | 'upstream' | 'gateway' = 'gateway'

  constructor(sinceMono: number) {
    this.sinceMono = sinceMono
  }
}
