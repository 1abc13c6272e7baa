import { setTimeout as sleep } from 'node:timers/promises'
import { maskedUrl } from '../lib/masking.js'
import { shuffled } from '../lib/statistics.js'
import type { Engine, LoadOptions } from '../model/engine.js'
import { TARGET } from '../model/run.js'
import type { Point } from '../model/summary.js'
import { collectGarbage } from './gc-figures.js'
import { pointOf } from './point.js'
import { measure, type Repetition, type SystemUnderTest } from './repetition.js'
import type { Progress, RunContext } from './run-context.js'
import type { Setup } from './setup.js'
import { percent, voided } from './validity.js'

/** Maximum coefficient of variation of repetitions without a warning. */
const MOST_VARIATION = 0.05
/** Time in seconds in which a new load generator opens connections and compiles its code. */
export const LEAD_IN_SECONDS = 0.5

/** Duration of a ceiling measurement in seconds. It only has to show whether the ceiling is high enough. */
export function ceilingSeconds(seconds: number): number {
  return Math.max(seconds / 4, Math.min(seconds, 1))
}

/** Maximum number of requests of a repetition that are kept one by one, for `requests.jtl`. */
const SAMPLES_PER_REPETITION = 2000

/** Points that are measured in turn: the same load on all systems. */
interface Group {
  readonly connections: number
  readonly engine: Engine
  readonly ceiling: number | null
  /** Suffix of the step's title, such as ` at 50 %`. */
  readonly suffix: string
  /** Systems with their rates. Null means full speed. */
  readonly rates: ReadonlyMap<SystemUnderTest, number | null>
}

/** Measures one scenario. */
export class CaseRun {
  readonly #context: RunContext
  readonly #setup: Setup
  readonly #progress: Progress

  constructor(context: RunContext, setup: Setup, progress: Progress) {
    this.#context = context
    this.#setup = setup
    this.#progress = progress
  }

  /** Measures all points for one number of connections: saturation first, then the rates. */
  async *points(connections: number): AsyncGenerator<Point> {
    const { engines, options, random } = this.#context
    await this.warmUp(connections)
    const rates = new Map(this.#setup.systems.map((system) => [system, null]))
    const saturation = new Map<string, Point>()
    const group = {
      ...{ connections, engine: engines.saturation },
      ceiling: await this.#ceiling(connections, engines.saturation),
    }
    const saturated = await this.#group({ ...group, suffix: '', rates })
    for (const point of saturated) saturation.set(point.system, point)
    yield* saturated
    const { rateShares } = options
    if (rateShares.length === 0) return
    const { rate: engine } = engines
    const ceiling = engine === engines.saturation ? group.ceiling : await this.#ceiling(connections, engine)
    const rated = { ...group, engine, ceiling }
    for (const share of shuffled(rateShares, random)) {
      const suffix = ` at ${Math.round(share * 100)} %`
      yield* await this.#group({ ...rated, suffix, rates: this.#ratesFor(share, saturation) })
    }
  }

  /** A system without valid saturation has no rates. */
  #ratesFor(share: number, saturation: ReadonlyMap<string, Point>): Map<SystemUnderTest, number> {
    const rates = new Map<SystemUnderTest, number>()
    for (const system of this.#setup.systems) {
      const base = soundSaturation(saturation.get(system.name))
      const rate = Math.round((base?.perSecond.mean ?? 0) * share)
      if (rate > 0 && system.load === undefined) rates.set(system, rate)
      else this.#progress.add(-this.#context.options.repetitions)
    }
    return rates
  }

  /** Loads all systems without measuring. */
  async warmUp(connections: number): Promise<void> {
    const { options, engines } = this.#context
    if (options.warmUpSeconds === 0) return
    for (const { url, load: own } of this.#setup.systems) {
      if (options.signal.aborted) return
      // A failure here occurs again in the measurement and is reported there.
      const load = { ...this.#load(url, connections, null), seconds: options.warmUpSeconds }
      await (own ?? engines.saturation.run)(load).catch(() => null)
    }
    await this.#setup.audit?.mismatch()
  }

  /** Measures the load without a system, or returns null if it was not measured. */
  async #ceiling(connections: number, engine: Engine): Promise<number | null> {
    const { options } = this.#context
    if (options.signal.aborted) return null
    const times = { warmUpSeconds: LEAD_IN_SECONDS, seconds: ceilingSeconds(options.seconds) }
    // An engine that fails here also fails at the points, which report it.
    const load = { ...this.#load(this.#setup.origin.url, connections, null), ...times }
    const result = await engine.run(load).catch(() => null)
    return result === null ? null : result.requests / result.seconds
  }

  /** Measures each system once, in the order of the setup. @param suffix end of the step's title */
  async round(connections: number, suffix: string): Promise<Repetition[]> {
    const repetitions: Repetition[] = []
    for (const system of this.#setup.systems)
      repetitions.push(await this.#repetition(this.#roundGroup(connections, suffix), system, 0))
    return repetitions
  }

  /** Returns the points of rounds. @param lists repetitions of each system */
  roundPoints(connections: number, lists: readonly (readonly Repetition[])[]): Point[] {
    return this.#setup.systems.map((system, at) =>
      this.#point(this.#roundGroup(connections, ''), system, lists[at]!),
    )
  }

  #roundGroup(connections: number, suffix: string): Group {
    return { connections, engine: this.#context.engines.saturation, ceiling: null, suffix, rates: new Map() }
  }

  async #group(group: Group): Promise<Point[]> {
    const { options } = this.#context
    const gateways = [...group.rates.keys()].flatMap(({ gateway }) => gateway ?? [])
    for (const gateway of gateways) await collectGarbage(gateway)
    const first = await this.#repetitions(group, [...group.rates.keys()])
    const mismatch = await this.#mismatch(first)
    const points: Point[] = []
    for (const [system, repetitions] of first) {
      if (repetitions.length === 0) continue
      let point = this.#point(group, system, repetitions)
      if (system.gateway !== null) {
        point = voided(point, mismatch)
        const figures = await collectGarbage(system.gateway)
        const diagnostics = point.diagnostics.map((one) => ({ ...one, ...figures.get(one.worker) }))
        point = { ...point, diagnostics }
      }
      this.#remark(point)
      points.push(point)
    }
    // Sockets close and collectors finish, so that the next points start clean.
    const pauseMs = options.coolDownSeconds * 1000
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: options.signal }).catch(() => {})
    return points
  }

  async #mismatch(measured: ReadonlyMap<SystemUnderTest, readonly Repetition[]>): Promise<string | null> {
    let answered = 0
    for (const [{ gateway }, repetitions] of measured)
      if (gateway !== null) for (const { result } of repetitions) answered += result?.requests ?? 0
    return (await this.#setup.audit?.mismatch(answered)) ?? null
  }

  /** Measures repetitions of all systems in turn, so that changes in machine speed affect all of them. */
  async #repetitions(
    group: Group,
    systems: readonly SystemUnderTest[],
  ): Promise<Map<SystemUnderTest, Repetition[]>> {
    const { options, random } = this.#context
    const lists = new Map<SystemUnderTest, Repetition[]>(systems.map((system) => [system, []]))
    for (let i = 0; i < options.repetitions; i++)
      for (const system of shuffled(systems, random)) {
        if (options.signal.aborted) return lists
        lists.get(system)!.push(await this.#repetition(group, system, i))
      }
    return lists
  }

  async #repetition(group: Group, system: SystemUnderTest, i: number): Promise<Repetition> {
    const { connections, engine, suffix, rates } = group
    const of = this.#context.options.repetitions
    const { layout, scenario } = this.#setup
    const { title } = scenario
    this.#progress.begin(`${title}, ${connections} connections${suffix}, ${system.name}, ${i + 1} of ${of}`)
    const load = this.#load(system.url, connections, rates.get(system) ?? null)
    const warmUpSeconds = engine.hasLeadIn === true ? LEAD_IN_SECONDS : 0
    const { observer } = this.#context
    const sampleCount = observer.onSamples === undefined ? 0 : SAMPLES_PER_REPETITION
    const repetition = await measure(system, engine, { ...load, warmUpSeconds, sampleCount }, layout)
    const label = `${title}, ${connections} connections${suffix}, ${system.name}`
    const url = maskedUrl(system.url + load.call.path)
    observer.onSamples?.({ label, url, connections }, repetition.result?.samples ?? [])
    return repetition
  }

  #load(origin: string, connections: number, perSecond: number | null): LoadOptions {
    const { options, dir } = this.#context
    const { scenario, layout } = this.#setup
    const { seconds } = options
    return {
      ...{ origin, call: scenario.call, connections, perSecond, seconds, cpu: layout.load, dir },
      // The warm-up of a system is a separate load, so that CPU time covers the measured time only.
      warmUpSeconds: 0,
    }
  }

  #point(group: Group, system: SystemUnderTest, repetitions: readonly Repetition[]): Point {
    return pointOf(
      {
        ...{ suite: this.#context.options.suite.name, scenario: this.#setup.scenario, system: system.name },
        ...{
          connections: group.connections,
          engine: system.load === undefined ? group.engine.name : 'redis-benchmark',
          ceilingPerSecond: group.ceiling,
        },
        ...{ targetPerSecond: group.rates.get(system) ?? null },
        layout: this.#setup.layout,
        memoryLimitBytes: this.#setup.memoryBytes,
      },
      repetitions,
    )
  }

  #remark(point: Point): void {
    const { options, warn } = this.#context
    const { scenario, connections, targetPerSecond, system, perSecond, cpuMicrosPerRequest } = point
    const rate = targetPerSecond === null ? '' : ` at ${targetPerSecond} requests/s`
    const label = `${scenario}, ${connections} connections${rate}, ${system}`
    const report = (remark: string): void => warn(`${label}: ${remark}`)
    const share = perSecond.stdev / perSecond.mean
    if (share > MOST_VARIATION) report(`the repetitions vary by ${percent(share)} (coefficient of variation)`)
    const pid = options.target?.pid ?? null
    if (system === TARGET && pid !== null && point.requests > 0 && cpuMicrosPerRequest === null)
      report(
        `the process ${pid} and those below it used no CPU time: --pid is to name the server's first process`,
      )
    const made = perSecond.values.length
    if (made < options.repetitions) report(`${made} of ${options.repetitions} repetitions`)
  }
}

/** Returns a valid saturation point, or null. */
function soundSaturation(point: Point | undefined): Point | null {
  if (point === undefined || point.perSecond.mean === 0) return null
  return Object.values(point.errors).some((count) => count > 0) ? null : point
}
