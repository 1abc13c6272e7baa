import type { Call } from './scenario.js'
import type { ErrorCounts, Spectrum } from './summary.js'

/** Load generators, the built-in one first. */
export const ENGINES = ['autocannon', 'wrk', 'oha', 'h2load'] as const
export type EngineName = (typeof ENGINES)[number]
export type ErrorClass = keyof ErrorCounts

/** Options for one run of a load generator. */
export interface LoadOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly call: Call
  readonly connections: number
  /** Warm-up in seconds; its results are discarded. */
  readonly warmUpSeconds: number
  readonly seconds: number
  /**
   * Total requests per second, planned ahead, with latency counted from the planned time. Null means a closed loop at
   * full speed.
   */
  readonly perSecond: number | null
  /** Cores for `taskset`, or null for no pinning. */
  readonly cpu: string | null
  /** Folder for scripts and raw output. */
  readonly dir: string
}

/** Results of a load generator for the measured time. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly errors: Readonly<ErrorCounts>
  readonly latency: Spectrum | null
  /** Requests of the warm-up on the same connections, if the engine reports them. */
  readonly leadIn?: { readonly requests: number; readonly seconds: number }
  /** CPU time of the generator per elapsed time and thread. At 1 the generator was the bottleneck. */
  readonly busyShare: number
}

/** A load generator. */
export interface Engine {
  readonly name: EngineName
  /** True if the engine can hold a rate and correct for coordinated omission. */
  readonly hasOpenLoop: boolean
  /** True if the warm-up is part of the load, on the same connections, and is reported as `leadIn`. */
  readonly hasLeadIn?: true
  /** Instruction for installing the engine, such as `install the package wrk` (a Debian package). */
  readonly remedy: string
  /** Returns the installed version, or null. */
  version(): string | null
  /** Runs the load. @throws Error with the last lines of its output if it fails. */
  run(options: LoadOptions): Promise<LoadResult>
}
