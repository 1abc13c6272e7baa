import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Trial } from './trial.js'

/** The version of `summary.json`; it changes when a field changes its meaning or goes away. */
export const SUMMARY_VERSION = 2

/** Null: not known, or not measured. */
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const oneOf = <const T extends string>(...words: T[]) => Type.Union(words.map((word) => Type.Literal(word)))

/** The sizes of a gateway, as the reference report counts them. */
export const Tier = oneOf('W1', 'W2', 'W4', 'W8')
export type Tier = Static<typeof Tier>

/** Where the traffic log goes while it is measured. */
export const LogMode = oneOf('none', 'elasticsearch')
export type LogMode = Static<typeof LogMode>

/** Why requests did not count; they never enter the latencies. */
export const ErrorCounts = Type.Object({
  connect: Type.Number(),
  timeout: Type.Number(),
  reset: Type.Number(),
  status: Type.Number(),
  other: Type.Number(),
})
export type ErrorCounts = Static<typeof ErrorCounts>
export const NO_ERRORS: Readonly<ErrorCounts> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }

/** A figure over the repetitions of a point; `values` are in their order. */
export const Spread = Type.Object({
  mean: Type.Number(),
  stdev: Type.Number(),
  min: Type.Number(),
  max: Type.Number(),
  values: Type.Array(Type.Number()),
})
export type Spread = Static<typeof Spread>

/** A distribution of latencies. */
export const Spectrum = Type.Object({
  /** Whether a late answer also counts for the requests that had to wait after it. */
  isCorrected: Type.Boolean(),
  count: Type.Number(),
  meanMicros: Type.Number(),
  maxMicros: Type.Number(),
  /** Ascending; 50, 75, 90, 95, 99, 99.9 and 99.99 are always there. */
  percentiles: Type.Array(Type.Object({ percentile: Type.Number(), micros: Type.Number() })),
  /** HdrHistogram, V2 compressed, base64: can be merged exactly. Null: the load generator gives none. */
  hdr: orNull(Type.String()),
})
export type Spectrum = Static<typeof Spectrum>

/** What Node.js says of one worker over the measured time. */
export const WorkerDiagnostics = Type.Object({
  worker: Type.Number(),
  heapUsedBytes: Type.Number(),
  rssBytes: Type.Number(),
  cpuMicros: Type.Number(),
  loopLagP99Micros: Type.Number(),
  gcCount: Type.Number(),
  gcMicros: Type.Number(),
})
export type WorkerDiagnostics = Static<typeof WorkerDiagnostics>

/** One row of `points.csv`. Throughput and latency at a rate are different kinds of points and are never mixed. */
export const Point = Type.Object({
  suite: Type.String(),
  scenario: Type.String(),
  title: Type.String(),
  /** The system under test: `sluice`, the name of a peer, or `target`. */
  system: Type.String(),
  kind: oneOf('saturation', 'fixed-rate'),
  tier: orNull(Tier),
  workers: Type.Number(),
  log: LogMode,
  method: Type.String(),
  bodyBytes: Type.Number(),
  connections: Type.Number(),
  /** The load generator. */
  engine: Type.String(),
  targetPerSecond: orNull(Type.Number()),
  perSecond: Spread,
  /** What load generator and origin did a second with the same call and nobody between them. */
  ceilingPerSecond: orNull(Type.Number()),
  /** CPU time of the load generator over its cores, in the repetition with the most. */
  generatorBusyShare: orNull(Type.Number()),
  /** User and system time of the system's process tree over completed requests. */
  cpuMicrosPerRequest: orNull(Spread),
  /** CPU time of the system over what its cores could give: near 1 when it was the bottleneck. */
  busyShare: orNull(Type.Number()),
  /** Whether system, load generator and origin ran on the same cores. */
  sharesCores: Type.Boolean(),
  requests: Type.Number(),
  errors: ErrorCounts,
  /** All repetitions merged. At saturation it is the latency at overload and is labelled so. */
  latency: orNull(Spectrum),
  /** Largest resident set of the process tree. */
  rssBytes: orNull(Type.Number()),
  /** What a comparison needs to distinguish a change from noise. */
  repetitions: Type.Array(
    Type.Object({
      p50Micros: orNull(Type.Number()),
      p99Micros: orNull(Type.Number()),
      rssBytes: orNull(Type.Number()),
    }),
  ),
  /** One per worker of the gateway; empty for others. */
  diagnostics: Type.Array(WorkerDiagnostics),
  /** How often requests waited because all connections to the origin were taken, in all workers. */
  upstreamWaits: orNull(Type.Number()),
  /** Why the point is no result; empty: it is one. */
  invalid: Type.Array(Type.String()),
  /** Why the CPU time of a request is none, which it can be where throughput is. */
  costInvalid: Type.Array(Type.String()),
})
export type Point = Static<typeof Point>

/** The machine of a run. */
export const HostFacts = Type.Object({
  cpuModel: Type.String(),
  cpus: Type.Number(),
  memoryBytes: Type.Number(),
  kernel: Type.String(),
  /** Thousands of rounds a second of a fixed piece of work on one core. */
  cpuScore: Type.Number(),
  /** Share of the time that others used while nothing of ours ran, 0 to 1, and that the hypervisor took. */
  foreignShare: Type.Number(),
  stolenShare: Type.Number(),
  /** Of what was measured and of what measured. */
  versions: Type.Record(Type.String(), Type.String()),
  /** The commit of the measured code. */
  source: orNull(Type.Object({ commit: Type.String(), isDirty: Type.Boolean() })),
  /** What `gw bench doctor` found, by its subject. */
  settings: Type.Record(Type.String(), Type.String()),
})
export type HostFacts = Static<typeof HostFacts>

/** All of a run; the content of `summary.json`. */
export const Summary = Type.Object({
  schemaVersion: Type.Literal(SUMMARY_VERSION),
  id: Type.String(),
  suite: Type.String(),
  startedAt: Type.String(),
  endedAt: Type.String(),
  /** The command line, so that it can be repeated. */
  command: Type.String(),
  host: HostFacts,
  /** SHA-256 of the gateway's document in each scenario, without what differs from run to run. */
  documents: Type.Record(Type.String(), Type.String()),
  points: Type.Array(Point),
  trials: Type.Array(Trial),
  /** Remarks on the whole run, such as a machine that was not quiet. */
  warnings: Type.Array(Type.String()),
})
export type Summary = Static<typeof Summary>
