import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** What clients saw in one span of time. */
export interface Span {
  readonly requests: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const US_PER_MS = 1000

/** Answers and failures over time: of spans, and of windows that are parts of them. */
export class LoadSpans {
  /** In µs. Sorting a list of them would stop the load for seconds. */
  readonly #spanLatencies = createHistogram()
  readonly #windowLatencies = createHistogram()
  #spanCounts = { requests: 0, failed: 0 }
  #windowCounts = { requests: 0, failed: 0 }

  answered(latencyMs: number): void {
    this.#windowCounts.requests++
    this.#windowLatencies.record(Math.max(1, Math.round(latencyMs * US_PER_MS)))
  }

  /** An answer that is none of those wished for counts as both. */
  failed(): void {
    this.#windowCounts.failed++
  }

  /** What was seen since the last call of this or `span`: a part of the span. */
  window(): Span {
    const window = spanOf(this.#windowCounts, this.#windowLatencies)
    if (window.requests > 0) this.#spanLatencies.add(this.#windowLatencies)
    this.#spanCounts.requests += window.requests
    this.#spanCounts.failed += window.failed
    this.#windowLatencies.reset()
    this.#windowCounts = { requests: 0, failed: 0 }
    return window
  }

  /** What was seen since the last call. */
  span(): Span {
    this.window()
    const span = spanOf(this.#spanCounts, this.#spanLatencies)
    this.#spanLatencies.reset()
    this.#spanCounts = { requests: 0, failed: 0 }
    return span
  }
}

function spanOf(
  { requests, failed }: { readonly requests: number; readonly failed: number },
  latencies: RecordableHistogram,
): Span {
  return {
    requests,
    failed,
    p50Ms: latencies.percentile(50) / US_PER_MS,
    p99Ms: latencies.percentile(99) / US_PER_MS,
  }
}
