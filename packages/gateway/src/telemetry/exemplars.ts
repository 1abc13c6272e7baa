import { type Exchange, headerValue } from '@sluice/core'
import type { Exemplar } from './sample.js'

/** Time for which a bucket keeps its exemplar, in milliseconds. */
const KEEP_MS = 5000
/** Time until the next search for a trace in milliseconds, so that untraced requests cost almost nothing. */
const SEARCH_MS = 10

/** W3C Trace Context level 1, section 3.2, with the flag `sampled`: other traces are not stored anywhere. */
const SAMPLED = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f][13579bdf](?:-|$)/

/** The newest exemplar of each bucket of a histogram. */
export class Exemplars {
  /** Exemplars by the index of the bucket. */
  readonly newest: (Exemplar | undefined)[] = []
  /** Monotonic time of the next search in each bucket. */
  readonly #dueMono: Float64Array

  constructor(buckets: number) {
    this.#dueMono = new Float64Array(buckets)
  }

  /** Keeps a finished request as exemplar if it belongs to a sampled trace and the last exemplar is old. */
  offer(x: Exchange, bucket: number, durationMs: number): void {
    if (x.endedMono < this.#dueMono[bucket]!) return
    const traceId = traceOf(x)
    this.#dueMono[bucket] = x.endedMono + (traceId === null ? SEARCH_MS : KEEP_MS)
    if (traceId === null) return
    this.newest[bucket] = { traceId, value: durationMs / 1000, atS: Date.now() / 1000 }
  }
}

/** Returns the ID of an exported trace. Without `tracing`, the client's decision counts. */
function traceOf({ trace, headers }: Exchange): string | null {
  if (trace !== null) return trace.isKept ? trace.traceId : null
  return SAMPLED.exec(headerValue(headers, 'traceparent') ?? '')?.[1] ?? null
}
