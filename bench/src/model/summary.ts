import type { ErrorClass, Spectrum } from './engine.js'
import type { DocumentDigest, GroupLimits, MachineSettings, SourceState } from './machine.js'
import type { LogWish, Tier } from './scenario.js'
import type { Trial } from './trial.js'

/** The version of `summary.json`; it changes when a field changes its meaning or goes away. */
export const SUMMARY_VERSION = 1

/** A figure over the repetitions of a point. */
export interface Spread {
  readonly mean: number
  readonly stdev: number
  readonly min: number
  readonly max: number
  /** The single values, in the order of the repetitions. */
  readonly values: readonly number[]
}

/** One row of `points.csv`. Throughput and latency at a rate are different kinds of points and are never mixed. */
export interface Point {
  readonly suite: string
  readonly scenario: string
  readonly title: string
  /** `sluice`, the name of a peer, or `target`. */
  readonly contestant: string
  readonly kind: 'saturation' | 'fixed-rate'
  readonly tier: Tier | null
  readonly workers: number
  readonly log: LogWish
  readonly method: string
  readonly bodyBytes: number
  readonly connections: number
  /** Null for saturation. */
  readonly targetPerSecond: number | null
  /** Of the highest rate that was found to keep its P99 below this and its errors below 0.1 %; absent: not searched for. */
  readonly sloMicros?: number
  readonly perSecond: Spread
  /** The load generator; absent: that of the run. */
  readonly engine?: string
  /** What load generator and origin did a second with the same call and nobody between them; null or absent: not measured. */
  readonly ceilingPerSecond?: number | null
  /** Bytes of answers a second, as the load generator counts them (oha: of bodies alone); absent: it does not tell. */
  readonly receivedPerSecond?: number
  /** Bytes of requests a second; absent: the load generator does not tell. */
  readonly sentPerSecond?: number
  /** How long the origin waits before it answers; absent: not known, as of a target's. */
  readonly originDelayMs?: number
  /** CPU time of the load generator over its quota, in the repetition with the most; null or absent: not known. */
  readonly generatorBusyShare?: number | null
  /** User and system time of the contestant's process tree over completed requests; without values, and NaN: not known. */
  readonly cpuMicrosPerRequest: Spread
  readonly requests: number
  readonly errors: Readonly<Record<ErrorClass, number>>
  /** All repetitions merged. Of a saturation point it is the latency at overload and is labelled so. */
  readonly latency: Spectrum | null
  /** Largest resident set of the process tree, bytes; 0: not known. */
  readonly rssBytes: number
  /** Absent: the contestant's memory had no limit of its own. */
  readonly memory?: MemoryLimit
  /** What `latency` and `rssBytes` were in each repetition; a comparison needs it to tell a change from noise. */
  readonly perRepetition?: readonly RepetitionFigures[]
  /** CPU time of the contestant over its quota: near 1 when it was the bottleneck. NaN: not known. */
  readonly busyShare: number
  /** Whether contestant, load generator and origin ran on the same cores; absent: not known to have done so. */
  readonly sharesCores?: boolean
  /** One per worker of the gateway; empty for peers. */
  readonly diagnostics: readonly WorkerDiagnostics[]
  /** How often requests waited because all connections to the origin were taken, in all workers; absent: not known. */
  readonly upstreamWaits?: number
  /** Why the point is no result; empty: it is one. */
  readonly invalid: readonly string[]
  /**
   * Which of these reasons also void the CPU time of a request, and what else does; empty: it is a result, even where
   * throughput and latencies are none. Absent: as `invalid`.
   */
  readonly costInvalid?: readonly string[]
}

/** Figures of one repetition that the point itself holds merged; null: the engine gave none. */
export interface RepetitionFigures {
  readonly p50Micros: number | null
  readonly p99Micros: number | null
  readonly rssBytes: number
  /** Periods of the CPU quota around the contestant, and those in which it was made to wait; absent: there is no quota. */
  readonly throttling?: Throttling
}

/** The limit around all processes of a contestant. */
export interface MemoryLimit {
  readonly limitBytes: number
  /** The most that they used of it since they began, with file cache and what the kernel held for them; null: not known. */
  readonly peakBytes: number | null
}

/** What a CPU quota did over a span of time. */
export interface Throttling {
  readonly periods: number
  readonly throttledPeriods: number
}

/** What Node.js says of one worker over the measured time. */
export interface WorkerDiagnostics {
  readonly worker: number
  readonly heapUsedBytes: number
  readonly rssBytes: number
  readonly loopLagP99Micros: number
  readonly gcCount: number
  readonly gcMicros: number
  readonly openSockets: number
  /** User and system time of its process until the load ended. */
  readonly cpuMicros?: number
  /** How often its threads waited for something, over the same time. */
  readonly voluntarySwitches?: number
  /** How often they were made to give up their core. */
  readonly involuntarySwitches?: number
  /** Absent: it has no traffic log. */
  readonly log?: WorkerLog
}

/** The traffic log of one worker from the beginning of a load until all of it was delivered, looked at twice a second. */
export interface WorkerLog {
  /** The most records that were in memory or on disk, not delivered yet. */
  readonly queuedRecords: number
  /** The age of the oldest of them at its worst, exact to the half second in which workers report. */
  readonly lagMicros: number
  readonly droppedRecords: number
}

/** The machine of a run. */
export interface HostFacts {
  readonly cpuModel: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly kernel: string
  readonly node: string
  /** Thousands of rounds a second of a fixed piece of work on one core: normalises runs of other machines. */
  readonly cpuScore: number
  /** Share of the time that others used while nothing of ours ran, 0 to 1, and that the machine below took away. */
  readonly foreignShare: number
  readonly stolenShare: number
  /** Versions of what was measured and of what measured: sluice, uWebSockets.js, undici, nginx, wrk and so on. */
  readonly versions: Readonly<Record<string, string>>
  /** The commit of the measured code; null: it is no checkout, and the version stands for it. */
  readonly source?: SourceState | null
  readonly v8?: string
  readonly settings?: MachineSettings
  readonly limits?: GroupLimits
  /** The configuration of the gateway in each scenario, by its id. */
  readonly documents?: Readonly<Record<string, DocumentDigest>>
}

/** All of a run; the content of `summary.json`. */
export interface Summary {
  readonly schemaVersion: typeof SUMMARY_VERSION
  readonly id: string
  readonly suite: string
  readonly startedAt: string
  readonly endedAt: string
  /** The command line, so that it can be repeated. */
  readonly command: string
  /** The load generator, or the one that holds the rates where there are two. */
  readonly engine: string
  /** The load generator at saturation; absent: the same. */
  readonly saturationEngine?: string
  readonly host: HostFacts
  readonly points: readonly Point[]
  /** Whole-run remarks, such as a machine that was not quiet. */
  readonly warnings: readonly string[]
  /** Of a suite of trials; absent: it is none. */
  readonly trials?: readonly Trial[]
}
