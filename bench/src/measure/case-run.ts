import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine, LoadOrder } from '../model/engine.js'
import type { RunObserver, RunOptions } from '../model/run.js'
import type { Point } from '../model/summary.js'
import { KNEE_STEPS, KneeSearch } from './knee.js'
import { type PointSubject, pointOf, type SpectrumMerge } from './point.js'
import type { Progress } from './progress.js'
import { type Contestant, measure, type Repetition } from './repetition.js'
import { shuffled } from './shuffle.js'
import { variation } from './spread.js'
import type { Stage } from './stage.js'
import { throttleRemark } from './throttle-reasons.js'
import { MOST_VARIATION, spreadRemark, unknownLimit } from './validity.js'

/** Of the seconds of a repetition: no figure is taken from the ceiling but whether it is high enough. */
export const CEILING_SHARE = 0.25

/** What the cases of a run have in common. */
export interface CaseContext {
  readonly options: RunOptions
  readonly observer: RunObserver
  readonly engine: Engine
  readonly merge: SpectrumMerge
  readonly progress: Progress
  readonly random: () => number
  readonly dir: string
  warn(text: string): void
}

/** Points that are measured in turn: the same load on all contestants, each at a rate of its own. */
interface Group {
  readonly connections: number
  /** What load generator and origin do a second without anybody between them; null: not measured. */
  readonly ceiling: number | null
  /** What is asked of the contestants beyond that, for people: ` at 50 %`. Empty: as much as they can do. */
  readonly wish: string
  /** Of the search for a highest rate; null: it is none. */
  readonly sloMicros: number | null
  /** Who takes part, with the rate to hold; null: as fast as it goes. */
  readonly rates: ReadonlyMap<Contestant, number | null>
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
    const { options, engine, random } = this.#context
    const saturation = new Map<string, Point>()
    await this.#warmUp(connections)
    const ceiling = await this.#ceiling(connections)
    const rates = new Map(this.#stage.contestants.map((contestant) => [contestant, null]))
    const group = { connections, ceiling, sloMicros: null }
    for (const point of await this.#group({ ...group, wish: '', rates })) {
      saturation.set(point.contestant, point)
      yield point
    }
    if (!engine.hasOpenLoop) return
    for (const share of shuffled(options.rateShares, random)) {
      const held = this.#ratesFor(share, saturation)
      yield* await this.#group({ ...group, wish: ` at ${Math.round(share * 100)} %`, rates: held })
    }
    if (options.sloMicros === null) return
    const wish = `, P99 below ${options.sloMicros / 1000} ms`
    yield* this.#knees({ ...group, wish, sloMicros: options.sloMicros }, saturation)
  }

  /** The highest rate of each contestant; they are searched for in turn, step by step. */
  async *#knees(group: KneeGroup, saturation: ReadonlyMap<string, Point>): AsyncGenerator<Point> {
    const { options, random, progress } = this.#context
    const searches = new Map<Contestant, KneeSearch>()
    for (const contestant of this.#stage.contestants) {
      const found = withoutErrors(saturation.get(contestant.name))
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
      yield { ...point, invalid: [...reasons.filter((reason) => reason !== null), ...point.invalid] }
    }
  }

  async #kneeStep(group: KneeGroup, contestant: Contestant, search: KneeSearch): Promise<void> {
    const { engine, progress } = this.#context
    const perSecond = search.next
    if (perSecond === null) return progress.add(-1)
    progress.begin(this.#stepName(group, contestant, search.repetitions.length, KNEE_STEPS))
    const order = this.#order(contestant.url, group.connections, perSecond)
    search.add(perSecond, await measure(contestant, engine, order, this.#stage.layout))
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
    const { options, engine } = this.#context
    if (options.warmUpSeconds === 0) return
    for (const contestant of this.#stage.contestants) {
      if (options.signal.aborted) return
      // What fails now fails again when it is measured, and is told then.
      const order = this.#order(contestant.url, connections, null)
      await engine.run({ ...order, seconds: options.warmUpSeconds }).catch(() => null)
    }
    await this.#stage.audit?.mismatch()
  }

  /** The same call straight to the origin: it says how much load there could have been. */
  async #ceiling(connections: number): Promise<number | null> {
    const { options, engine } = this.#context
    if (options.signal.aborted) return null
    const order = this.#order(this.#stage.origin.url, connections, null)
    // An engine that fails here fails at the points as well, which tell of it.
    const result = await engine.run({ ...order, seconds: options.seconds * CEILING_SHARE }).catch(() => null)
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
      if (mismatch !== null && contestant.gateway !== null)
        point = { ...point, invalid: [...point.invalid, mismatch] }
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
    const { options, engine, random, progress } = this.#context
    const lists = new Map<Contestant, Repetition[]>(contestants.map((contestant) => [contestant, []]))
    for (let i = 0; i < options.repetitions; i++) {
      for (const contestant of shuffled(contestants, random)) {
        if (options.signal.aborted) return lists
        progress.begin(this.#stepName(group, contestant, i, options.repetitions))
        const rate = group.rates.get(contestant) ?? null
        const order = this.#order(contestant.url, group.connections, rate)
        lists.get(contestant)!.push(await measure(contestant, engine, order, this.#stage.layout))
      }
    }
    return lists
  }

  #order(origin: string, connections: number, perSecond: number | null): LoadOrder {
    const { options, dir } = this.#context
    return {
      origin,
      call: this.#stage.scenario.call,
      connections,
      // The warm-up is a load of its own, so that CPU time can be counted for the measured time alone.
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
      ceilingPerSecond: group.ceiling,
      targetPerSecond: group.rates.get(contestant) ?? null,
      sloMicros: group.sloMicros,
      layout: this.#stage.layout,
    }
    return pointOf(subject, repetitions, this.#context.merge)
  }

  #deservesAnother(point: Point): boolean {
    const isApart = variation(point.perSecond) > MOST_VARIATION
    return isApart && point.invalid.length === 0 && !this.#context.options.signal.aborted
  }

  /** Of two measurements the one whose repetitions agree better; one that was cut short never counts. */
  #steadier(point: Point, group: Group, again: Map<Contestant, Repetition[]>): Point {
    const [entry] = again
    if (entry === undefined || entry[1].length < this.#context.options.repetitions) return point
    const second = this.#point(group, entry[0], entry[1])
    const isBetter = variation(second.perSecond) < variation(point.perSecond)
    return isBetter && second.invalid.length === 0 ? second : point
  }

  #remark(point: Point): void {
    const remarks = [spreadRemark(point), unknownLimit(point), throttleRemark(point)]
    const of = point.targetPerSecond === null ? '' : ` at ${point.targetPerSecond} a second`
    const place = `${point.scenario}, ${point.connections} connections${of}, ${point.contestant}`
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

/** Saturation that rates can be taken of; null: it was not reached without errors. */
function withoutErrors(point: Point | undefined): Point | null {
  if (point === undefined || point.perSecond.mean === 0) return null
  return Object.values(point.errors).some((count) => count > 0) ? null : point
}
