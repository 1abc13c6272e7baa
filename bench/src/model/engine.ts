import type { Call } from './scenario.js'
import type { ErrorCounts, Spectrum } from './summary.js'

/** All load generators, the built-in one first. */
export const ENGINES = ['autocannon', 'wrk', 'oha', 'h2load'] as const
export type EngineName = (typeof ENGINES)[number]
export type ErrorClass = keyof ErrorCounts

/** What one load generator is asked to do. */
export interface LoadOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly call: Call
  readonly connections: number
  /** Discarded. */
  readonly warmUpSeconds: number
  readonly seconds: number
  /** Null: closed loop, as fast as it goes. Else requests a second in all, planned ahead and counted from the planned time. */
  readonly perSecond: number | null
  /** The cores it is pinned to, as taskset takes them; null: anywhere. */
  readonly cpu: string | null
  /** A folder for scripts and raw output. */
  readonly dir: string
}

/** What one load generator saw in the measured time. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly errors: Readonly<ErrorCounts>
  readonly latency: Spectrum | null
  /** What was answered in the warm-up on the same connections; absent: the engine does not report. */
  readonly leadIn?: { readonly requests: number; readonly seconds: number }
  /** User and system time of the generator over elapsed time and threads; 1: it was the bottleneck. */
  readonly busyShare: number
}

/** A load generator. */
export interface Engine {
  readonly name: EngineName
  /** Can it hold a rate and correct for coordinated omission? */
  readonly hasOpenLoop: boolean
  /** Its warm-up is the beginning of the load itself, on the same connections, and it says what that was (`leadIn`). */
  readonly hasLeadIn?: true
  /** How to get it where it is missing, such as `install the package wrk`; packages are Debian's. */
  readonly remedy: string
  /** The version found; null: it is not installed. */
  version(): string | null
  /** @throws Error with the last lines of its output when it cannot be run. */
  run(options: LoadOptions): Promise<LoadResult>
}
