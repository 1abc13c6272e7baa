import { logIdentity } from '../contestant/gateway.js'
import { findProgram } from '../contestant/program.js'
import { missingElasticsearch } from '../contestant/search-engine.js'
import { temporaryFolder } from '../last-will.js'
import { type CoreLayout, coreLayout, keepOffContestant } from '../measure/cores.js'
import { hostWarnings } from '../measure/host-warnings.js'
import { Progress } from '../measure/progress.js'
import type { Engine } from '../model/engine.js'
import type { DocumentDigest } from '../model/machine.js'
import type { RunObserver, RunOptions } from '../model/run.js'
import { type HostFacts, SUMMARY_VERSION, type Summary } from '../model/summary.js'
import type { Trial, TrialPlan } from '../model/trial.js'
import { get } from '../suite/scenario-parts.js'
import { cleanUp } from './clean-up.js'
import type { Deed } from './deed.js'
import { DEEDS } from './deeds/deeds.js'
import { notCarriedOut } from './not-carried-out.js'
import { NO_NAMES } from './own-names.js'
import { type OpenStage, openTrialStage, TrialNode } from './stage.js'
import { saturationSeconds, timesOf } from './times.js'
import { runTrial } from './trial-run.js'

/** Of saturation, when nothing else is asked for. */
const USUAL_SHARE = 0.6

/** What a stage is opened for; no deed: for a look at saturation. */
interface Scene {
  readonly plan: TrialPlan
  readonly deed: Deed | null
  /** Made before this process was pinned itself, after which it sees its own cores only. */
  readonly layout: CoreLayout
}

interface TrialParts {
  readonly engine: Engine
  readonly lookAtHost: () => Promise<HostFacts>
}

/** Runs a suite of trials. @throws Error when none of them can be begun with, such as without a load generator */
export async function runTrials(
  options: RunOptions,
  observer: RunObserver,
  parts: TrialParts,
): Promise<Summary> {
  return new TrialsRun(options, observer, parts).run()
}

/** One run of a suite of trials, from the first look at the machine to the summary. */
class TrialsRun {
  readonly #options: RunOptions
  readonly #observer: RunObserver
  readonly #engine: Engine
  readonly #lookAtHost: () => Promise<HostFacts>
  readonly #folder = temporaryFolder('sluice-trials-')
  readonly #startedAt = new Date()
  readonly #trials: Trial[] = []
  readonly #warnings: string[] = []
  readonly #versions: Record<string, string> = {}
  readonly #documents: Record<string, DocumentDigest> = {}
  #plans: readonly TrialPlan[]
  #node: TrialNode | null = null
  #saturation: number | null = null

  constructor(options: RunOptions, observer: RunObserver, { engine, lookAtHost }: TrialParts) {
    const { suite, scenarios } = options
    this.#options = options
    this.#observer = observer
    this.#engine = engine
    this.#lookAtHost = lookAtHost
    const plans = suite.trials ?? []
    this.#plans = plans.filter(({ id }) => scenarios.length === 0 || scenarios.includes(id))
  }

  async run(): Promise<Summary> {
    try {
      this.#check()
      const host = await this.#lookAtHost()
      for (const warning of hostWarnings(host)) this.#warn(warning)
      await this.#openSearchEngine()
      await this.#measure()
      return this.#summary(host)
    } finally {
      await this.#cleanUp()
    }
  }

  #cleanUp(): Promise<void> {
    const stop = async (): Promise<void> => this.#node?.node.stop()
    const remove = async (): Promise<void> => this.#folder.remove()
    const steps = [
      { what: 'Elasticsearch was not stopped', do: stop },
      { what: 'the files of the trials are still there', do: remove },
    ]
    return cleanUp(steps, (text) => this.#warn(text))
  }

  #check(): void {
    const version = this.#engine.version()
    if (version === null)
      throw new Error(`the load generator ${this.#engine.name} is not installed: ${this.#engine.remedy}`)
    this.#versions[this.#engine.name] = version
    if (this.#options.isPinned && findProgram('taskset') === null)
      throw new Error('taskset is not installed; install the package util-linux, or pin nothing')
    if (this.#plans.length === 0) throw new Error(`suite ${this.#options.suite.name} has no such trial`)
  }

  /** Without an Elasticsearch some trials are left out, and the others lose their traffic log. */
  async #openSearchEngine(): Promise<void> {
    if (!this.#plans.some(({ log }) => log === 'elasticsearch')) return
    const missing = missingElasticsearch()
    if (missing === null) {
      const { load } = coreLayout(1, this.#options.isPinned)
      this.#node = await TrialNode.start(this.#folder.path, load)
      return
    }
    const left = this.#plans.filter(({ needsSearchEngine }) => needsSearchEngine).map(({ id }) => id)
    this.#plans = this.#plans.filter(({ needsSearchEngine }) => !needsSearchEngine)
    const leftText = left.length === 0 ? '' : `left out: ${left.join(', ')}; `
    this.#warn(`${missing}; ${leftText}no records are counted`)
  }

  async #measure(): Promise<void> {
    const progress = new Progress(this.#observer, this.#plans.length)
    for (const plan of this.#plans) {
      if (this.#options.signal.aborted) break
      progress.begin(plan.title)
      const trial = await this.#attempt(plan)
      if (trial !== null) this.#keep(trial)
    }
    if (this.#options.signal.aborted) this.#warn('the run was stopped before its end')
  }

  /** Null: this machine cannot do it. All else that keeps a trial from being carried out is a failure of it. */
  async #attempt(plan: TrialPlan): Promise<Trial | null> {
    const startedAt = new Date().toISOString()
    try {
      return await this.#trial(plan)
    } catch (error) {
      const { message } = error as Error
      if (message !== NO_NAMES) return notCarriedOut(plan, startedAt, message)
      this.#warn(`${plan.id} is left out: ${message}`)
      return null
    }
  }

  async #trial(plan: TrialPlan): Promise<Trial> {
    const { rateShares, seconds, warmUpSeconds, isPinned, connections } = this.#options
    const layout = coreLayout(plan.workers, isPinned)
    const unpin = keepOffContestant(layout)
    const asked = { ...plan, connections: connections[0] ?? plan.connections }
    try {
      const saturationPerSecond = await this.#saturationOf(asked, layout)
      const perSecond = Math.max(1, Math.round(saturationPerSecond * (rateShares[0] ?? USUAL_SHARE)))
      const deed = deedOf(plan)
      const times = timesOf(warmUpSeconds, seconds)
      return await this.#onStage({ plan: asked, deed, layout }, (stage) =>
        runTrial({ plan: asked, deed, stage, times, saturationPerSecond, perSecond }),
      )
    } finally {
      unpin()
    }
  }

  /** The same for all trials, whose gateways and connections are. */
  async #saturationOf(plan: TrialPlan, layout: CoreLayout): Promise<number> {
    const order = { plan: { ...plan, id: 'saturation' }, deed: null, layout }
    this.#saturation ??= await this.#onStage(order, (stage) => this.#measuredSaturation(order, stage))
    return this.#saturation
  }

  /** What goes through for as long as it takes until its records are delivered: more could not go on for long. */
  async #measuredSaturation({ plan, layout }: Scene, { gateway, node }: OpenStage): Promise<number> {
    const { seconds, warmUpSeconds } = this.#options
    const startMono = performance.now()
    const { requests, seconds: loaded } = await this.#engine.run({
      ...{ origin: gateway.url, call: get('/'), connections: plan.connections, perSecond: null },
      warmUpSeconds: Math.min(warmUpSeconds, 2),
      seconds: saturationSeconds(seconds),
      cpu: layout.load,
      dir: this.#folder.path,
    })
    if (requests === 0) throw new Error('the gateway answered no request at saturation')
    if (node === null) return requests / loaded
    await gateway.settled()
    const { received } = await logIdentity(gateway.admin)
    return Math.min(requests / loaded, (received * 1000) / (performance.now() - startMono))
  }

  async #onStage<T>({ plan, deed, layout }: Scene, act: (stage: OpenStage) => Promise<T>): Promise<T> {
    const { signal } = this.#options
    const order = {
      dir: this.#folder.path,
      plan,
      wish: deed?.wish ?? {},
      layout,
      searchEngine: this.#node,
      signal,
    }
    await this.#node?.revive()
    const stage = await openTrialStage(order)
    this.#versions['origin'] = stage.origin.version
    if (deed !== null) this.#documents[plan.id] = stage.gateway.document
    try {
      return await act(stage)
    } finally {
      await this.#clear(plan, stage)
    }
  }

  #clear({ id }: TrialPlan, stage: OpenStage): Promise<void> {
    // Millions of documents of one trial would slow down the next.
    const forget = async (): Promise<void> => {
      await stage.node?.request('DELETE', `/_data_stream/${stage.stream}`)
    }
    const steps = [
      { what: `${id}: not all of it was stopped`, do: () => stage.close() },
      { what: `${id}: its records are still there`, do: forget },
    ]
    return cleanUp(steps, (text) => this.#warn(text))
  }

  #keep(trial: Trial): void {
    this.#trials.push(trial)
    this.#observer.onTrial?.(trial)
  }

  #warn(text: string): void {
    this.#warnings.push(text)
    this.#observer.onWarning(text)
  }

  #summary(host: HostFacts): Summary {
    const { suite, command } = this.#options
    return {
      schemaVersion: SUMMARY_VERSION,
      id: `${suite.name}-${this.#startedAt.toISOString().replace(/\D/g, '').slice(0, 14)}`,
      suite: suite.name,
      startedAt: this.#startedAt.toISOString(),
      endedAt: new Date().toISOString(),
      command,
      engine: this.#engine.name,
      host: { ...host, versions: { ...host.versions, ...this.#versions }, documents: this.#documents },
      points: [],
      warnings: this.#warnings,
      trials: this.#trials,
    }
  }
}

function deedOf({ id }: TrialPlan): Deed {
  const deed = DEEDS.get(id)
  if (deed === undefined) throw new Error(`nobody knows what is done in the trial '${id}'`)
  return deed()
}
