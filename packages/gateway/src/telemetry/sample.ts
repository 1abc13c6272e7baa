/** The metric families a worker can report; the text format needs their type and help once each. */
export type MetricKind = 'counter' | 'gauge' | 'histogram'

/**
 * One number of one series, as a worker reports it and the supervisor adds it up over the workers.
 * A histogram's buckets are samples of `<name>_bucket`, `<name>_sum` and `<name>_count`.
 */
export interface Sample {
  /** With the suffix, `gw_request_duration_seconds_bucket`. */
  readonly name: string
  /** Rendered label pairs without braces, `route="orders",method="GET"`; empty for none. */
  readonly labels: string
  readonly value: number
}
