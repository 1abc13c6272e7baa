import type { Call } from './scenario.js'
import type { ErrorCounts, Spectrum } from './summary.js'

/** Load generators, the built-in one first. */
export const ENGINES = ['autocannon', 'wrk', 'oha'] as const
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
  /** Maximum number of requests to report one by one, chosen at random. Only autocannon does. 0 without. */
  readonly sampleCount?: number
}

/** One request of a load. */
export interface RequestSample {
  /** Start in milliseconds since 1970: the planned time at a fixed rate. */
  readonly atMs: number
  /** Time to the end of the response, and to its head. */
  readonly elapsedMs: number
  readonly latencyMs: number
  /** Status code, or the reason of a failure. */
  readonly outcome: number | ErrorClass
  /** Sizes of the response and of the request. */
  readonly bytes: number
  readonly sentBytes: number
}

/** Results of a load generator for the measured time. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly errors: Readonly<ErrorCounts>
  readonly latency: Spectrum | null
  readonly samples?: readonly RequestSample[]
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
