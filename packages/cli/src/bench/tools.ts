import type {
  CapacityAnswer,
  CapacityWish,
  Comparison,
  ComparisonOptions,
  Engine,
  Finding,
  HostFacts,
  Limit,
  LogSinkWish,
  OriginWish,
  PeerName,
  Point,
  RunningLogSink,
  RunSuite,
  Summary,
  TextTable,
  Trial,
} from '@sluice/bench'

/** A running origin. */
export interface RunningOrigin {
  readonly url: string
  stop(): Promise<void>
}

/** What the commands print of a comparison, and whether a limit of `--fail-if` is exceeded. */
export type ComparisonText = Pick<
  Comparison,
  'lines' | 'isFailed' | 'points' | 'trials' | 'onlyBefore' | 'onlyAfter' | 'noEvidence' | 'warnings'
>

/** What they print of a sizing answer. */
export type CapacityText = Pick<CapacityAnswer, 'lines' | 'size'>

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
  /** Contestants side by side, below the points; empty when there are no two. */
  rivalTables(points: readonly Point[]): readonly TextTable[]
  /** The same for trials. */
  trialTable(trials: readonly Trial[]): readonly (readonly string[])[]
  compareSummaries(
    before: Summary,
    after: Summary,
    limits: readonly Limit[],
    options: ComparisonOptions,
  ): ComparisonText
  /** @throws Error that says what a limit looks like. */
  parseLimits(text: string): readonly Limit[]
  capacityFor(summaries: readonly Summary[], wish: CapacityWish): CapacityText
  /** @throws Error when the file cannot be read or is no summary. */
  readSummary(file: string): Summary | Promise<Summary>
  /** Why a peer cannot be measured here, and what to do; null: it can. */
  peerProblem(name: PeerName): string | null
  /** The built-in origin, on this address (`host:port`). */
  startOrigin(wish: OriginWish, address: string): Promise<RunningOrigin>
  /** What takes the place of a log's target, on this address. */
  startLogSink(wish: LogSinkWish, address: string): Promise<RunningLogSink>
}
