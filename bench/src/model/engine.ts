import type { Call } from './scenario.js'

/** What one load generator is told to do. */
export interface LoadOrder {
  /** Scheme, host and port. */
  readonly origin: string
  readonly call: Call
  readonly connections: number
  /** Discarded. */
  readonly warmUpSeconds: number
  readonly seconds: number
  /** Null: closed loop, as fast as it goes. Else requests a second in all, planned ahead and counted from the planned time. */
  readonly perSecond: number | null
  /** The core it is pinned to; null: anywhere. */
  readonly cpu: string | null
  /** A folder for scripts and raw output. */
  readonly dir: string
}

/** Why a request did not count; it never enters the latencies. */
export type ErrorClass = 'connect' | 'timeout' | 'reset' | 'status' | 'other'

/** What one load generator saw in the measured time. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly errors: Readonly<Record<ErrorClass, number>>
  readonly latency: Spectrum | null
  /** Of all answers, heads and bodies, but for `oha`, which counts bodies alone; absent: the engine does not tell. */
  readonly receivedBytes?: number
  /** Of the requests that were answered; absent: the engine does not tell. */
  readonly sentBytes?: number
  /** What was answered in the warm-up, good or bad, where the engine tells it: CPU time was used for that, too. */
  readonly leadIn?: { readonly requests: number; readonly seconds: number }
  /** User and system time of the generator over elapsed time and threads; 1: it was the bottleneck. */
  readonly busyShare: number
}

/** A distribution of latencies. */
export interface Spectrum {
  /** Whether a late answer also counts for the requests that had to wait behind it. */
  readonly isCorrected: boolean
  readonly count: number
  readonly meanMicros: number
  readonly stdevMicros: number
  readonly maxMicros: number
  /** Ascending; 50, 75, 90, 95, 99, 99.9 and 99.99 are always there. */
  readonly percentiles: readonly { readonly percentile: number; readonly micros: number }[]
  /** HdrHistogram, V2 compressed, base64, 3 digits, microseconds: can be merged exactly. Null: the engine gives none. */
  readonly hdr: string | null
}

/** A load generator. */
export interface Engine {
  readonly name: 'autocannon' | 'wrk' | 'wrk2' | 'oha' | 'h2load'
  /** Can it hold a rate and correct for coordinated omission? */
  readonly hasOpenLoop: boolean
  /** Its warm-up is the beginning of the load itself, on the same connections, and it tells what that was (`leadIn`). */
  readonly hasLeadIn?: true
  /** How to get it where it is missing, such as `install the package wrk`; packages are Debian's. */
  readonly remedy: string
  /** The version found; null: it is not installed. */
  version(): string | null
  /** @throws Error with the last lines of its output when it cannot be run. */
  run(order: LoadOrder): Promise<LoadResult>
}
