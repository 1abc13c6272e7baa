import type { EventStream } from '../http/event-stream.js'
import type { AttemptTrace } from './attempt-trace.js'
import { type CallNote, MAX_CALL_NOTES } from './call-note.js'
import type { Capture } from './capture.js'
import type { WebSocketCounts } from './websocket-counts.js'

/** Details of an exchange for the traffic log only. Empty for most exchanges. */
export class RecordNotes {
  /** Captured messages, or null if nothing is captured. */
  capture: Capture | null = null
  /** Failed attempts, connection state at a failure and traced policies. Null if nothing was noted. */
  trace: AttemptTrace | null = null
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

  noteCall(call: CallNote): void {
    this.calls ??= []
    if (this.calls.length < MAX_CALL_NOTES) this.calls.push(call)
  }
}
