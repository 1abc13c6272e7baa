import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { missingMemoryGroups } from '../contestant/memory-group.js'
import { missingPeer } from '../contestant/peers.js'
import { findProgram } from '../contestant/program.js'
import { missingElasticsearch, startSearchEngine } from '../contestant/search-engine.js'
import { engineOf } from '../engine/engines.js'
import { mergeSpectra } from '../engine/spectrum.js'
import { temporaryFolder } from '../last-will.js'
import type { Engine } from '../model/engine.js'
import type { DocumentDigest } from '../model/machine.js'
import type { RunObserver, RunOptions, RunSuite } from '../model/run.js'
import type { Scenario, SuiteCase } from '../model/scenario.js'
import { type HostFacts, type Point, SUMMARY_VERSION, type Summary } from '../model/summary.js'
import { memoryOfTier } from '../report/tier.js'
import { runTrials } from '../trial/run-trials.js'
import { CaseRun } from './case-run.js'
import { coreLayout, foreignLayout, keepOffContestant } from './cores.js'
import { hostFacts } from './host.js'
import { hostWarnings } from './host-warnings.js'
import { KNEE_STEPS } from './knee.js'
import { isAskable, needsSearchEngine } from './measurable.js'
import type { SpectrumMerge } from './point.js'
import { Progress } from './progress.js'
import { engineVersions, type RunEngines, runEngines } from './run-engines.js'
import { seededRandom, shuffled } from './shuffle.js'
import { openStage, peersOf, type Stage } from './stage.js'

/** Runs suites with the load generators, the merge of distributions and the look at the machine that it is given. */
export function suiteRunner(
  engineNamed: (name: Engine['name']) => Engine,
  merge: SpectrumMerge,
  lookAtHost: () => Promise<HostFacts> = hostFacts,
): RunSuite {
  return async (options, observer) => {
    const engines = runEngines(options, engineNamed)
    if (options.suite.trials !== undefined)
      return runTrials(options, observer, { engine: engines.rate, lookAtHost })
    const run = new SuiteRun(options, observer, { engines, merge, lookAtHost, cases: casesOf(options) })
    return run.run()
  }
}

/** Runs a suite with the load generators of this package. */
export const runSuite: RunSuite = suiteRunner(engineOf, mergeSpectra)

/** The cases that are asked for. @throws Error when there is none */
function casesOf({ suite, scenarios, connections }: RunOptions): SuiteCase[] {
  const known = suite.cases.map(({ scenario }) => scenario.id)
  const unknown = scenarios.filter((id) => !known.includes(id))
  if (unknown.length > 0)
    throw new Error(`suite ${suite.name} has no scenario ${unknown.join(', ')}; it has ${known.join(', ')}`)
  const cases = suite.cases
    .filter(({ scenario }) => scenarios.length === 0 || scenarios.includes(scenario.id))
    .map((one) => ({
      scenario: one.scenario,
      connections: one.connections.filter((count) => connections.length === 0 || connections.includes(count)),
    }))
    .filter((one) => one.connections.length > 0)
  if (cases.length === 0)
    throw new Error(`suite ${suite.name} has no point with these numbers of connections`)
  return cases
}

interface RunParts {
  readonly engines: RunEngines
  readonly merge: SpectrumMerge
  readonly lookAtHost: () => Promise<HostFacts>
  readonly cases: readonly SuiteCase[]
}

/** One run of a suite, from the first look at the machine to the summary. */
class SuiteRun {
  readonly #options: RunOptions
  readonly #observer: RunObserver
  readonly #engines: RunEngines
  readonly #merge: SpectrumMerge
  readonly #lookAtHost: () => Promise<HostFacts>
  readonly #folder = temporaryFolder('sluice-bench-')
  readonly #startedAt = new Date()
  readonly #id: string
  readonly #random: () => number
  readonly #points: Point[] = []
  readonly #warnings: string[] = []
  readonly #versions: Record<string, string> = {}
  readonly #documents: Record<string, DocumentDigest> = {}
  #cases: readonly SuiteCase[]
  #searchEngine: ElasticsearchNode | null = null
  #isMemoryLimited = false

  constructor(options: RunOptions, observer: RunObserver, parts: RunParts) {
    const { engines, merge, lookAtHost, cases } = parts
    this.#options = options
    this.#observer = observer
    this.#engines = engines
    this.#merge = merge
    this.#lookAtHost = lookAtHost
    this.#cases = cases
    this.#id = `${options.suite.name}-${this.#startedAt.toISOString().replace(/\D/g, '').slice(0, 14)}`
    // The order of the points can be made again from the id in the summary.
    this.#random = seededRandom(this.#id)
  }

  async run(): Promise<Summary> {
    try {
      this.#check()
      const host = await this.#lookAtHost()
      this.#judge(host)
      this.#leaveToTarget()
      this.#isMemoryLimited = this.#canLimitMemory()
      await this.#openSearchEngine()
      await this.#measure()
      return this.#summary(host)
    } finally {
      await this.#searchEngine?.stop()
      await this.#folder.remove()
    }
  }

  #check(): void {
    const { peers, rateShares, isPinned } = this.#options
    const { rate } = this.#engines
    Object.assign(this.#versions, engineVersions(this.#engines, this.#options))
    if (isPinned && findProgram('taskset') === null)
      throw new Error('taskset is not installed; install the package util-linux, or pin nothing')
    const missing = peers.map(missingPeer).filter((problem) => problem !== null)
    if (missing.length > 0) throw new Error(missing.join('; '))
    if (rateShares.length > 0 && !rate.hasOpenLoop)
      this.#warn(`${rate.name} cannot hold a rate: there are no latencies at fixed rates`)
  }

  #judge(host: HostFacts): void {
    for (const warning of hostWarnings(host)) this.#warn(warning)
    if (this.#options.target !== undefined)
      this.#warn(
        'somebody else has started the target: how it is configured, how busy it was, and whether it shares its cores is not known here',
      )
    else if (!this.#options.isPinned)
      this.#warn(
        'nothing was pinned to cores: gateway, load generator and origin may have disturbed each other',
      )
  }

  #leaveToTarget(): void {
    if (this.#options.target === undefined) return
    const left = this.#cases.filter((one) => !isAskable(one)).map(({ scenario }) => scenario.id)
    this.#cases = this.#cases.filter(isAskable)
    if (this.#cases.length === 0)
      throw new Error('nothing of this run can be asked of a target: it is more than a plain proxy does')
    if (left.length > 0) this.#warn(`left out, since it is more than a plain proxy does: ${left.join(', ')}`)
  }

  /** What a target may use is not ours to say, and those beside it are to be as free as it is. */
  #canLimitMemory(): boolean {
    const { isMemoryLimited, target } = this.#options
    const hasTiers = this.#cases.some(({ scenario }) => scenario.tier !== null)
    if (!isMemoryLimited || target !== undefined || !hasTiers) return false
    const missing = missingMemoryGroups()
    if (missing !== null) this.#warn(`the memory of a tier is no limit in this run: ${missing}`)
    return missing === null
  }

  #memoryOf({ tier }: Scenario): number | null {
    return this.#isMemoryLimited && tier !== null ? memoryOfTier(tier) : null
  }

  /** Points that need an Elasticsearch are left out where none is installed. */
  async #openSearchEngine(): Promise<void> {
    if (!this.#cases.some(needsSearchEngine)) return
    const missing = missingElasticsearch()
    if (missing !== null) {
      const left = this.#cases.filter(needsSearchEngine).map(({ scenario }) => scenario.id)
      this.#warn(`${missing}; left out: ${left.join(', ')}`)
      this.#cases = this.#cases.filter((one) => !needsSearchEngine(one))
      return
    }
    const { load } = coreLayout(1, this.#options.isPinned)
    this.#searchEngine = await startSearchEngine(this.#folder.path, load)
  }

  async #measure(): Promise<void> {
    const progress = new Progress(this.#observer, this.#stepCount())
    for (const one of shuffled(this.#cases, this.#random)) {
      if (this.#options.signal.aborted) break
      try {
        await this.#case(one, progress)
      } catch (error) {
        // What was measured before is worth more than the message alone.
        if (this.#points.length === 0) throw error
        this.#warn(`${one.scenario.id} is left out: ${(error as Error).message}`)
      }
    }
    if (this.#options.signal.aborted) this.#warn('the run was stopped before its end')
  }

  async #case({ scenario, connections }: SuiteCase, progress: Progress): Promise<void> {
    const { peers, isPinned, target = null } = this.#options
    const searchEngine = scenario.log === 'elasticsearch' ? this.#searchEngine : null
    const layout = target === null ? coreLayout(scenario.workers, isPinned) : foreignLayout(scenario.workers)
    const unpin = keepOffContestant(layout)
    try {
      const memoryBytes = this.#memoryOf(scenario)
      const dir = this.#folder.path
      const stage = await openStage({ dir, scenario, peers, target, layout, searchEngine, memoryBytes })
      await this.#onStage(stage, connections, progress).finally(() => stage.close())
    } finally {
      unpin()
    }
  }

  async #onStage(stage: Stage, connections: readonly number[], progress: Progress): Promise<void> {
    for (const { name, version, gateway } of stage.contestants) {
      if (version !== null) this.#versions[name] = version
      if (gateway !== null) this.#documents[stage.scenario.id] = gateway.document
    }
    this.#versions['origin'] = stage.origin.version
    const run = new CaseRun(this.#context(progress), stage)
    for (const count of shuffled(connections, this.#random)) {
      if (this.#options.signal.aborted) return
      for await (const point of run.points(count)) this.#keep(point)
    }
  }

  #context(progress: Progress): ConstructorParameters<typeof CaseRun>[0] {
    return {
      options: this.#options,
      observer: this.#observer,
      engines: this.#engines,
      merge: this.#merge,
      random: this.#random,
      dir: this.#folder.path,
      progress,
      warn: (text) => this.#warn(text),
    }
  }

  #stepCount(): number {
    const { peers, rateShares, repetitions, sloMicros } = this.#options
    const loads = 1 + (this.#engines.rate.hasOpenLoop ? rateShares.length : 0)
    const steps = loads * repetitions + (sloMicros === null ? 0 : KNEE_STEPS)
    return this.#cases.reduce((sum, { scenario, connections }) => {
      const contestants = 1 + peersOf({ scenario, peers }).length
      return sum + connections.length * contestants * steps
    }, 0)
  }

  #keep(point: Point): void {
    this.#points.push(point)
    this.#observer.onPoint(point)
  }

  #warn(text: string): void {
    this.#warnings.push(text)
    this.#observer.onWarning(text)
  }

  #summary(host: HostFacts): Summary {
    const { suite, command } = this.#options
    const { saturation, rate } = this.#engines
    return {
      schemaVersion: SUMMARY_VERSION,
      id: this.#id,
      suite: suite.name,
      startedAt: this.#startedAt.toISOString(),
      endedAt: new Date().toISOString(),
      command,
      engine: rate.name,
      ...(saturation === rate ? {} : { saturationEngine: saturation.name }),
      host: { ...host, versions: { ...host.versions, ...this.#versions }, documents: this.#documents },
      points: this.#inSuiteOrder(),
      warnings: this.#warnings,
    }
  }

  /** Readers want the order of the suite, whatever the order of the measuring was. */
  #inSuiteOrder(): Point[] {
    const place = new Map(this.#options.suite.cases.map(({ scenario }, i) => [scenario.id, i]))
    return this.#points.toSorted(
      (a, b) =>
        place.get(a.scenario)! - place.get(b.scenario)! ||
        a.connections - b.connections ||
        (a.sloMicros ?? 0) - (b.sloMicros ?? 0) ||
        (a.targetPerSecond ?? 0) - (b.targetPerSecond ?? 0),
    )
  }
}
