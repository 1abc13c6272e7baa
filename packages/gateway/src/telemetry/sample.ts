/** Kind of a metric, for the TYPE line of the text format. */
export type MetricKind = 'counter' | 'gauge' | 'histogram'

/**
 * A value of one series, reported by a worker and summed over workers by the supervisor. Buckets of a
 * histogram are samples of `<name>_bucket`, `<name>_sum` and `<name>_count`.
 */
export interface Sample {
  /** Name with its suffix, such as `gw_request_duration_seconds_bucket`. */
  readonly name: string
  /** Rendered label pairs without braces, such as `route="orders",method="GET"`; empty for none. */
  readonly labels: string
  readonly value: number
  /** A recent request in this bucket that belongs to a trace. */
  readonly exemplar?: Exemplar
}

/** A request that a bucket counted, with its trace. */
export interface Exemplar {
  /** 32 hexadecimal digits in lower case. */
  readonly traceId: string
  /** Duration in seconds. */
  readonly value: number
  /** Time at which the request ended, in seconds since 1970. */
  readonly atS: number
}
