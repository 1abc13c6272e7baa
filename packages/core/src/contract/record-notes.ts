import type { EventStream } from '../http/event-stream.js'
import type { AttemptTrace } from './attempt-trace.js'
import { type CallNote, MAX_CALL_NOTES } from './call-note.js'
import type { Capture } from './capture.js'
import type { WebSocketCounts } from './websocket-counts.js'

/** What is noted of an exchange for the traffic log alone; most have none of it. */
export class RecordNotes {
  /** What is kept of its messages; null when nothing is. */
  capture: Capture | null = null
  /** Attempts that failed, the connections at a failure, policies that are traced; null: nothing of it. */
  trace: AttemptTrace | null = null
  /** What is counted of a response that is a stream of events, and of a WebSocket connection; null for all others. */
  stream: EventStream | WebSocketCounts | null = null
  /** The limit that had the least left of those that applied, see noteLimit; empty: none did. */
  limitName = ''
  limitRemaining = 0
  /** Why a policy refused, for the operator alone; empty: its code says all. */
  reason = ''
  /** How a cache served the request: `hit`, `stale`, `revalidated`, `coalesced`, `miss` or `bypass`; empty: it met none. */
  cacheResult = ''
  /** Of the stored response that answered, in seconds. */
  cacheAge = 0
  /** Calls that policies have made for it; null: none. */
  calls: CallNote[] | null = null

  noteCall(call: CallNote): void {
    this.calls ??= []
    if (this.calls.length < MAX_CALL_NOTES) this.calls.push(call)
  }
}
