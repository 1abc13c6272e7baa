import { setTimeout as sleep } from 'node:timers/promises'
import { idleRemark } from '../contestant/target.js'
import type { Engine, LoadOrder } from '../model/engine.js'
import type { RunObserver, RunOptions } from '../model/run.js'
import type { Point } from '../model/summary.js'
import { ceilingSeconds, LEAD_IN_SECONDS } from './ceiling.js'
import { KNEE_STEPS, KneeSearch } from './knee.js'
import { type PointSubject, pointOf, type SpectrumMerge } from './point.js'
import type { Progress } from './progress.js'
import { baseFlaw, withoutErrors } from './rate-base.js'
import { type Contestant, measure, type Repetition } from './repetition.js'
import type { RunEngines } from './run-engines.js'
import { shuffled } from './shuffle.js'
import type { Stage } from './stage.js'
import { MOST_VARIATION, spreadRemark, steadierOf, unsteadiness } from './steadiness.js'
import { throttleRemark } from './throttle-reasons.js'
import { unknownCost, unknownLimit, voided } from './validity.js'

/** What the cases of a run have in common. */
export interface CaseContext {
  readonly options: RunOptions
  readonly observer: RunObserver
  readonly engines: RunEngines
  readonly merge: SpectrumMerge
  readonly progress: Progress
  readonly random: () => number
  readonly dir: string
  warn(text: string): void
}

/** Points that are measured in turn: the same load on all contestants, each at a rate of its own. */
interface Group {
  readonly connections: number
  readonly engine: Engine
  /** What load generator and origin do a second without anybody between them; null: not measured. */
  readonly ceiling: number | null
  /** What is asked of the contestants beyond that, for people: ` at 50 %`. Empty: as much as they can do. */
  readonly wish: string
  /** Of the search for a highest rate; null: it is none. */
  readonly sloMicros: number | null
  /** Who takes part, with the rate to hold; null: as fast as it goes. */
  readonly rates: ReadonlyMap<Contestant, number | null>
  /** What the rates are shares of, by contestant; empty: they are none. */
  readonly saturation: ReadonlyMap<string, Point>
}

/** A group whose rates are being searched for. */
type KneeGroup = Omit<Group, 'rates'> & { readonly sloMicros: number }

/** Measures one scenario on an open stage. */
export class CaseRun {
  readonly #context: CaseContext
  readonly #stage: Stage

  constructor(context: CaseContext, stage: Stage) {
    this.#context = context
    this.#stage = stage
  }

  /** All points for one number of connections: saturation, then the rates that follow from it. */
  async *points(connections: number): AsyncGenerator<Point> {
    const { engines } = this.#context
    const saturation = new Map<string, Point>()
    await this.#warmUp(connections)
    const ceiling = await this.#ceiling(connections, engines.saturation)
    const rates = new Map(this.#stage.contestants.map((contestant) => [contestant, null]))
    const group = { connections, engine: engines.saturation, ceiling, sloMicros: null }
    for (const point of await this.#group({ ...group, wish: '', rates, saturation: new Map() })) {
      saturation.set(point.contestant, point)
      yield point
    }
    yield* this.#rated({ ...group, saturation })
  }

  /** The points at rates that follow from a saturation. */
  async *#rated(saturated: Omit<Group, 'rates' | 'wish'>): AsyncGenerator<Point> {
    const { rateShares, sloMicros } = this.#context.options
    const { rate: engine, saturation } = this.#context.engines
    if (!engine.hasOpenLoop || (rateShares.length === 0 && sloMicros === null)) return
    const { connections } = saturated
    // How much load there could have been depends on the load generator.
    const ceiling = engine === saturation ? saturated.ceiling : await this.#ceiling(connections, engine)
    const group = { ...saturated, engine, ceiling }
    for (const share of shuffled(rateShares, this.#context.random)) {
      const wish = ` at ${Math.round(share * 100)} %`
      yield* await this.#group({ ...group, wish, rates: this.#ratesFor(share, group.saturation) })
    }
    if (sloMicros === null) return
    yield* this.#knees({ ...group, wish: `, P99 below ${sloMicros / 1000} ms`, sloMicros })
  }

  /** The highest rate of each contestant; they are searched for in turn, step by step. */
  async *#knees(group: KneeGroup): AsyncGenerator<Point> {
    const { options, random, progress } = this.#context
    const searches = new Map<Contestant, KneeSearch>()
    for (const contestant of this.#stage.contestants) {
      const found = withoutErrors(group.saturation.get(contestant.name))
      if (found === null) progress.add(-KNEE_STEPS)
      else searches.set(contestant, new KneeSearch(found.perSecond.mean, group.sloMicros))
    }
    for (let i = 0; i < KNEE_STEPS; i++)
      for (const [contestant, search] of shuffled([...searches], random))
        if (!options.signal.aborted) await this.#kneeStep(group, contestant, search)
    const made = [...searches].map(([contestant, { repetitions }]) => [contestant, repetitions] as const)
    const mismatch = await this.#mismatch(new Map(made))
    for (const [contestant, { outcome }] of searches) {
      if (outcome === null) continue
      const rates = new Map([[contestant, outcome.perSecond]])
      const point = this.#point({ ...group, rates }, contestant, [outcome.repetition])
      const reasons = [outcome.failure, contestant.gateway === null ? null : mismatch]
      yield voided(point, ...reasons.filter((reason) => reason !== null))
    }
  }

  async #kneeStep(group: KneeGroup, contestant: Contestant, search: KneeSearch): Promise<void> {
    const { progress } = this.#context
    const perSecond = search.next
    if (perSecond === null) return progress.add(-1)
    progress.begin(this.#stepName(group, contestant, search.repetitions.length, KNEE_STEPS))
    const order = this.#measuredOrder(group, contestant, perSecond)
    search.add(perSecond, await measure(contestant, group.engine, order, this.#stage.layout))
  }

  /** Who failed at saturation has no saturation to take a share of. */
  #ratesFor(share: number, saturation: ReadonlyMap<string, Point>): Map<Contestant, number> {
    const rates = new Map<Contestant, number>()
    for (const contestant of this.#stage.contestants) {
      const point = withoutErrors(saturation.get(contestant.name))
      const rate = point === null ? 0 : Math.round(point.perSecond.mean * share)
      if (rate > 0) rates.set(contestant, rate)
      else this.#context.progress.add(-this.#context.options.repetitions)
    }
    return rates
  }

  async #warmUp(connections: number): Promise<void> {
    const { options, engines } = this.#context
    if (options.warmUpSeconds === 0) return
    for (const contestant of this.#stage.contestants) {
      if (options.signal.aborted) return
      // What fails now fails again when it is measured, and is told then.
      const order = this.#order(contestant.url, connections, null)
      await engines.saturation.run({ ...order, seconds: options.warmUpSeconds }).catch(() => null)
    }
    await this.#stage.audit?.mismatch()
  }

  /** The same call straight to the origin: it says how much load there could have been. */
  async #ceiling(connections: number, engine: Engine): Promise<number | null> {
    const { options } = this.#context
    if (options.signal.aborted) return null
    const order = this.#order(this.#stage.origin.url, connections, null)
    const times = { warmUpSeconds: LEAD_IN_SECONDS, seconds: ceilingSeconds(options.seconds) }
    // An engine that fails here fails at the points as well, which tell of it.
    const result = await engine.run({ ...order, ...times }).catch(() => null)
    return result === null ? null : result.requests / result.seconds
  }

  async #group(group: Group): Promise<Point[]> {
    const first = await this.#repetitions(group, [...group.rates.keys()])
    const mismatch = await this.#mismatch(first)
    const points: Point[] = []
    for (const [contestant, repetitions] of first) {
      if (repetitions.length === 0) continue
      let point = this.#point(group, contestant, repetitions)
      if (this.#deservesAnother(point)) {
        this.#context.progress.add(this.#context.options.repetitions)
        point = this.#steadier(point, group, await this.#repetitions(group, [contestant]))
      }
      if (mismatch !== null && contestant.gateway !== null) point = voided(point, mismatch)
      this.#remark(point)
      points.push(point)
    }
    await this.#coolDown()
    return points
  }

  /** Sockets close and collectors end, so that the next points do not begin with what these left behind. */
  async #coolDown(): Promise<void> {
    const { coolDownSeconds = 0, signal } = this.#context.options
    if (coolDownSeconds > 0) await sleep(coolDownSeconds * 1000, undefined, { signal }).catch(() => {})
  }

  async #mismatch(measured: ReadonlyMap<Contestant, readonly Repetition[]>): Promise<string | null> {
    let answered = 0
    for (const [{ gateway }, repetitions] of measured) {
      if (gateway === null) continue
      for (const { result } of repetitions) answered += result?.requests ?? 0
    }
    return (await this.#stage.audit?.mismatch(answered)) ?? null
  }

  /** Repetitions of all in turn, so that a machine that changes its speed changes it for all of them. */
  async #repetitions(
    group: Group,
    contestants: readonly Contestant[],
  ): Promise<Map<Contestant, Repetition[]>> {
    const { options, random, progress } = this.#context
    const lists = new Map<Contestant, Repetition[]>(contestants.map((contestant) => [contestant, []]))
    for (let i = 0; i < options.repetitions; i++) {
      for (const contestant of shuffled(contestants, random)) {
        if (options.signal.aborted) return lists
        progress.begin(this.#stepName(group, contestant, i, options.repetitions))
        const rate = group.rates.get(contestant) ?? null
        const order = this.#measuredOrder(group, contestant, rate)
        lists.get(contestant)!.push(await measure(contestant, group.engine, order, this.#stage.layout))
      }
    }
    return lists
  }

  /** A load generator that has just begun opens connections and compiles its code, which is no latency of a contestant. */
  #measuredOrder(
    { connections, engine }: Pick<Group, 'connections' | 'engine'>,
    { url }: Contestant,
    perSecond: number | null,
  ): LoadOrder {
    const order = this.#order(url, connections, perSecond)
    return engine.hasLeadIn === true ? { ...order, warmUpSeconds: LEAD_IN_SECONDS } : order
  }

  #order(origin: string, connections: number, perSecond: number | null): LoadOrder {
    const { options, dir } = this.#context
    return {
      origin,
      call: this.#stage.scenario.call,
      connections,
      // The warm-up of a contestant is a load of its own, so that CPU time can be counted for the measured time alone.
      warmUpSeconds: 0,
      seconds: options.seconds,
      perSecond,
      cpu: this.#stage.layout.load,
      dir,
    }
  }

  #point(group: Group, contestant: Contestant, repetitions: readonly Repetition[]): Point {
    const subject: PointSubject = {
      suite: this.#context.options.suite.name,
      scenario: this.#stage.scenario,
      contestant: contestant.name,
      connections: group.connections,
      engine: group.engine.name,
      ceilingPerSecond: group.ceiling,
      targetPerSecond: group.rates.get(contestant) ?? null,
      sloMicros: group.sloMicros,
      baseFlaw: baseFlaw(group.saturation.get(contestant.name)),
      layout: this.#stage.layout,
    }
    return pointOf(subject, repetitions, this.#context.merge)
  }

  #deservesAnother(point: Point): boolean {
    return unsteadiness(point) > MOST_VARIATION && !this.#context.options.signal.aborted
  }

  /** Of two measurements the one whose repetitions agree better; one that was cut short never counts. */
  #steadier(point: Point, group: Group, again: Map<Contestant, Repetition[]>): Point {
    const [entry] = again
    if (entry === undefined || entry[1].length < this.#context.options.repetitions) return point
    return steadierOf(point, this.#point(group, entry[0], entry[1]))
  }

  #remark(point: Point): void {
    const remarks = [spreadRemark(point), unknownLimit(point), unknownCost(point), throttleRemark(point)]
    const of = point.targetPerSecond === null ? '' : ` at ${point.targetPerSecond} a second`
    const place = `${point.scenario}, ${point.connections} connections${of}, ${point.contestant}`
    remarks.push(idleRemark(this.#context.options.target, point))
    for (const remark of remarks) if (remark !== null) this.#context.warn(`${place}: ${remark}`)
    const made = point.perSecond.values.length
    const wanted = this.#context.options.repetitions
    if (made < wanted) this.#context.warn(`${place}: ${made} of ${wanted} repetitions`)
  }

  #stepName(
    { connections, wish }: Omit<Group, 'rates'>,
    { name }: Contestant,
    i: number,
    of: number,
  ): string {
    return `${this.#stage.scenario.title}, ${connections} connections${wish}, ${name}, ${i + 1} of ${of}`
  }
}
