/** Numbers by name, such as requests by status class. */
export type Counts = Readonly<Record<string, number>>

/** Counters of a route, or of all, in `GET /v1/metrics`. They only grow. */
export interface Traffic {
  /** Number of requests by status class, such as `2xx`. */
  readonly requests: Counts
  /** Number of requests per latency bucket, not cumulative. The last bucket has no upper bound. */
  readonly buckets: readonly number[]
}

/** Figures of one time window. Latencies are in milliseconds; null without requests. */
export interface Rates {
  /** Requests per second. */
  readonly requests: number
  /** Responses per second with a status of 500 and more, and of 400 to 499. */
  readonly errors: number
  readonly clientErrors: number
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
}

/**
 * Returns the figures between two counts. Counters that were reset count from 0.
 * @param before Undefined to count from the start of the gateway. `bounds` are those of the buckets in seconds.
 */
export function ratesBetween(
  before: Traffic | undefined,
  now: Traffic,
  { seconds, bounds }: { readonly seconds: number; readonly bounds: readonly number[] },
): Rates {
  const buckets = now.buckets.map((count, i) => Math.max(0, count - (before?.buckets[i] ?? 0)))
  const grown = growth(before?.requests ?? {}, now.requests)
  const perSecond = (count: number): number => (seconds > 0 ? count / seconds : 0)
  return {
    requests: perSecond(Object.values(grown).reduce((sum, count) => sum + count, 0)),
    errors: perSecond(grown['5xx'] ?? 0),
    clientErrors: perSecond(grown['4xx'] ?? 0),
    p50: quantile(0.5, buckets, bounds),
    p90: quantile(0.9, buckets, bounds),
    p99: quantile(0.99, buckets, bounds),
  }
}

/** Returns how much each count has grown. */
export function growth(before: Counts, now: Counts): Record<string, number> {
  return Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, Math.max(0, count - (before[name] ?? 0))]),
  )
}

/**
 * Returns a quantile in milliseconds, interpolated within its bucket as Prometheus does. The last bucket has no
 * bound, so its lower bound is returned.
 */
export function quantile(
  share: number,
  buckets: readonly number[],
  bounds: readonly number[],
): number | null {
  const count = buckets.reduce((sum, each) => sum + each, 0)
  if (count === 0) return null
  const rank = share * count
  let below = 0
  for (const [i, each] of buckets.entries()) {
    if (each > 0 && below + each >= rank) {
      const low = bounds[i - 1] ?? 0
      const high = bounds[i] ?? low
      return (low + (high - low) * ((rank - below) / each)) * 1000
    }
    below += each
  }
  return null
}
