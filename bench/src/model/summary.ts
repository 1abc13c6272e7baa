import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Trial } from './trial.js'

/** Version of `summary.json`. It changes when a field changes its meaning or is removed. */
export const SUMMARY_VERSION = 2

/** A schema that also accepts null, for unknown or unmeasured values. */
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const oneOf = <const T extends string>(...words: T[]) => Type.Union(words.map((word) => Type.Literal(word)))

/** Sizes of a gateway, as in the reference report. */
export const Tier = oneOf('W1', 'W2', 'W4', 'W8')
export type Tier = Static<typeof Tier>

/** Destination of the traffic log during the measurement. */
export const LogMode = oneOf('none', 'elasticsearch')
export type LogMode = Static<typeof LogMode>

/** Failed requests by reason. They never count in latencies. */
export const ErrorCounts = Type.Object({
  connect: Type.Number(),
  timeout: Type.Number(),
  reset: Type.Number(),
  status: Type.Number(),
  other: Type.Number(),
})
export type ErrorCounts = Static<typeof ErrorCounts>
/** Counts without errors. */
export const NO_ERRORS: Readonly<ErrorCounts> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }

/** Spread of a figure over the repetitions of a point. `values` are in the order of the repetitions. */
export const Spread = Type.Object({
  mean: Type.Number(),
  stdev: Type.Number(),
  min: Type.Number(),
  max: Type.Number(),
  values: Type.Array(Type.Number()),
})
export type Spread = Static<typeof Spread>

/** A latency distribution. */
export const Spectrum = Type.Object({
  /** True if a late response also counts for requests that waited behind it. */
  isCorrected: Type.Boolean(),
  count: Type.Number(),
  meanMicros: Type.Number(),
  maxMicros: Type.Number(),
  /** Standard deviation of the response times. Missing if the load generator does not report it. */
  stdevMicros: Type.Optional(Type.Number()),
  /** Percentiles in ascending order. 50, 75, 90, 95, 99, 99.9 and 99.99 are always present. */
  percentiles: Type.Array(Type.Object({ percentile: Type.Number(), micros: Type.Number() })),
  /** HdrHistogram, V2 compressed, base64, for exact merging. Null if the load generator has none. */
  hdr: orNull(Type.String()),
})
export type Spectrum = Static<typeof Spectrum>

/** Node.js figures of one worker over the measured time. */
export const WorkerDiagnostics = Type.Object({
  worker: Type.Number(),
  heapUsedBytes: Type.Number(),
  rssBytes: Type.Number(),
  cpuMicros: Type.Number(),
  loopLagP99Micros: Type.Number(),
  gcCount: Type.Number(),
  gcMicros: Type.Number(),
  /** Longest garbage collection. This and the next three are missing if the worker could not be observed. */
  gcLongestMicros: Type.Optional(Type.Number()),
  /** Full garbage collections among `gcCount`. */
  fullGcCount: Type.Optional(Type.Number()),
  /** Heap in use and resident memory after a full garbage collection at the end of the load. */
  heapAfterGcBytes: Type.Optional(Type.Number()),
  rssAfterGcBytes: Type.Optional(Type.Number()),
})
export type WorkerDiagnostics = Static<typeof WorkerDiagnostics>

/** One row of `points.csv`. Points for throughput and for latency at a rate are never mixed. */
export const Point = Type.Object({
  suite: Type.String(),
  scenario: Type.String(),
  title: Type.String(),
  /** System under test: `sluice`, a peer's name, or `target`. */
  system: Type.String(),
  kind: oneOf('saturation', 'fixed-rate'),
  tier: orNull(Tier),
  workers: Type.Number(),
  log: LogMode,
  method: Type.String(),
  bodyBytes: Type.Number(),
  connections: Type.Number(),
  engine: Type.String(),
  targetPerSecond: orNull(Type.Number()),
  perSecond: Spread,
  /** Requests per second of load generator and origin without a system between them. */
  ceilingPerSecond: orNull(Type.Number()),
  /** CPU time of the load generator per core, in the busiest repetition. */
  generatorBusyShare: orNull(Type.Number()),
  /** User and system time of the system's process tree per completed request. */
  cpuMicrosPerRequest: orNull(Spread),
  /** Share of the system's CPU time that was spent in the kernel. Missing in older runs. */
  kernelShare: Type.Optional(orNull(Type.Number())),
  /** CPU time of the system as a share of its cores. Near 1 if it was the bottleneck. */
  busyShare: orNull(Type.Number()),
  /** True if system, load generator and origin ran on the same cores. */
  sharesCores: Type.Boolean(),
  requests: Type.Number(),
  errors: ErrorCounts,
  /** Latency of all repetitions, merged. At saturation it is latency at overload. */
  latency: orNull(Spectrum),
  /** Largest resident set of the process tree, in bytes. */
  rssBytes: orNull(Type.Number()),
  /** Values of each repetition, for comparisons. */
  repetitions: Type.Array(
    Type.Object({
      p50Micros: orNull(Type.Number()),
      p99Micros: orNull(Type.Number()),
      rssBytes: orNull(Type.Number()),
    }),
  ),
  /** Scenario that was measured in turn with this one: repetition n of both is a pair. */
  pairedWith: Type.Optional(Type.String()),
  /** Figures of each worker of the gateway. Empty for other systems. */
  diagnostics: Type.Array(WorkerDiagnostics),
  /** Number of times that requests waited for a connection to the origin, in all workers. */
  upstreamWaits: orNull(Type.Number()),
  /** Load average of the machine over one minute at the end of the load, in the busiest repetition. */
  loadAverage: Type.Optional(Type.Number()),
  /** Memory limit of the system in bytes. Null if it was not enforced. */
  memoryLimitBytes: Type.Optional(orNull(Type.Number())),
  /** Reasons why the point has no figures, such as failed requests. */
  invalid: Type.Array(Type.String()),
  /** Influences on throughput and latency, with the measured noise. The figures are reported. */
  warnings: Type.Optional(Type.Array(Type.String())),
  /** Reasons why the CPU time per request is no evidence. It can be evidence where throughput is not. */
  costInvalid: Type.Array(Type.String()),
})
export type Point = Static<typeof Point>

/** Facts about the machine of a run. */
export const HostFacts = Type.Object({
  cpuModel: Type.String(),
  cpus: Type.Number(),
  memoryBytes: Type.Number(),
  kernel: Type.String(),
  /** Thousands of rounds per second of a fixed calculation on one core. */
  cpuScore: Type.Number(),
  /** CPU share of other programs and the hypervisor while our programs were idle, from 0 to 1. */
  foreignShare: Type.Number(),
  stolenShare: Type.Number(),
  versions: Type.Record(Type.String(), Type.String()),
  /** Commit of the measured code. */
  source: orNull(Type.Object({ commit: Type.String(), isDirty: Type.Boolean() })),
  /** Findings of `gw bench doctor`, by subject. */
  settings: Type.Record(Type.String(), Type.String()),
})
export type HostFacts = Static<typeof HostFacts>

/** The content of `summary.json`. */
export const Summary = Type.Object({
  schemaVersion: Type.Literal(SUMMARY_VERSION),
  id: Type.String(),
  suite: Type.String(),
  startedAt: Type.String(),
  endedAt: Type.String(),
  /** Command line, for repeating the run. */
  command: Type.String(),
  /** Machine of the gateway. */
  host: HostFacts,
  /** Descriptions of the hosts of agents, by role: address, machine, clock offset and CPU use. */
  hosts: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** SHA-256 of the gateway's document in each scenario, without values that differ between runs. */
  documents: Type.Record(Type.String(), Type.String()),
  points: Type.Array(Point),
  trials: Type.Array(Trial),
  /** Warnings about the whole run, such as a busy machine. */
  warnings: Type.Array(Type.String()),
})
export type Summary = Static<typeof Summary>
