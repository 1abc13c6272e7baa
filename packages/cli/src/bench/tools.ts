import type { Engine, HostFacts, OriginWish, PeerName, Point, RunSuite, Summary } from '@sluice/bench'

/** What `gw bench compare` found. */
export interface Comparison {
  /** For people, ready to print. */
  readonly lines: readonly string[]
  /** Whether a limit of `--fail-if` is exceeded. */
  readonly isFailed: boolean
}

/** What `gw bench capacity` is asked. */
export interface CapacityWish {
  readonly perSecond: number
  /** Null: the size of the measured points. */
  readonly bodyBytes: number | null
  readonly policies: readonly string[]
}

/** Tier and replicas for a load. */
export interface CapacityAnswer {
  /** For people, ready to print. */
  readonly lines: readonly string[]
}

/** One thing that the host should be for a measurement. */
export interface Finding {
  readonly check: string
  readonly isGood: boolean
  /** What to do; empty when it is good. */
  readonly remedy: string
}

/** A running origin. */
export interface RunningOrigin {
  readonly url: string
  stop(): Promise<void>
}

/** The limits of `--fail-if`, which only the comparison looks into. */
export type Limits = readonly object[]

/** What the commands of `gw bench` work with: @sluice/bench in production, something that remembers its calls in tests. */
export interface BenchTools {
  readonly engines: readonly Engine[]
  engineOf(name: Engine['name']): Engine
  readonly runSuite: RunSuite
  hostFacts(): HostFacts | Promise<HostFacts>
  doctor(): readonly Finding[] | Promise<readonly Finding[]>
  /** Answers the paths of what it wrote. */
  writeResults(summary: Summary, dir: string): readonly string[] | Promise<readonly string[]>
  /** The first row holds the headings. */
  pointTable(points: readonly Point[]): readonly (readonly string[])[]
  compareSummaries(before: Summary, after: Summary, limits: Limits): Comparison
  /** @throws Error that says what a limit looks like. */
  parseLimits(text: string): Limits
  capacityFor(summary: Summary, wish: CapacityWish): CapacityAnswer
  /** @throws Error when the file cannot be read or is no summary. */
  readSummary(file: string): Summary | Promise<Summary>
  /** Why a peer cannot be measured here, and what to do; null: it can. */
  peerProblem(name: PeerName): string | null
  /** The built-in origin, on this address (`host:port`). */
  startOrigin(wish: OriginWish, address: string): Promise<RunningOrigin>
}
