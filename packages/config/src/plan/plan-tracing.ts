/** Tracing of requests. */
export interface TracingPlan {
  /** Header formats. The first one that a request has is read; all are written. */
  readonly propagation: readonly ('tracecontext' | 'b3' | 'b3multi')[]
  /** Share of traces to sample, 0 to 1. */
  readonly ratio: number
  /** True if the sampling decision of the caller is kept. */
  readonly parentBased: boolean
  /** Requests whose spans are exported although they are not sampled. */
  readonly keep: {
    readonly errors: boolean
    readonly blocked: boolean
    /** Duration from which requests are kept; null: none. */
    readonly slowerThanMs: number | null
  }
}
