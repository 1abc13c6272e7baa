import { performance } from 'node:perf_hooks'
import type { OverloadPlan } from '@sluice/config'
import { type Reply, refusal } from '@sluice/core'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import { CRITICALITIES, type Route } from './route.js'

/** A delay is an overload once it has been seen in this many looks in a row: one long task is none. */
const LATE_LOOKS = 2
/** Without a refusal for this long the overload is over. */
const CALM_MS = 1000
/** Work since the last look at the event loop, of which there is one every 20 ms, behind which low and normal requests wait too long. */
const TAKEN_MS = [32, 40] as const
/** The same is divided by this while connections wait to be accepted, which a worker does at the end of its turns only. */
const CROWDED_DIVISOR = 4
/** Shares of `maxInFlight` from which requests are refused, by criticality. */
const IN_FLIGHT_SHARES = [0.8, 1, 1.2] as const
const OFF: OverloadPlan = { maxLoopDelayMs: 0, maxInFlight: null, retryAfterMs: 1000 }

/**
 * Decides which requests a worker takes when there are more than it can serve. Two limits, as in Envoy's overload
 * manager: requests in flight, and the delay of the event loop. A loop that stays late has more to read in one turn than
 * it should work off: requests that it reaches late in a turn have waited long, and are refused before they cost more.
 * A process that waits for the processor is late as well and has nothing to gain from refusals, so that only time counts in
 * which it worked. Requests of routes with `criticality: low` go first; `critical` ones are never refused for it.
 */
export class Admission {
  readonly #readClocks: () => Clocks
  /** Requests refused, by criticality. */
  readonly #shed = [0, 0, 0]
  #isOverloaded = false
  /** Consecutive looks that were too late. */
  #lateLooks = 0
  /** At the last look at the event loop. */
  #looked: Clocks = { mono: 0, cpuMs: 0 }
  /** Work since then, as far as it has been read: that clock costs more than the rest of a refusal. */
  #workedMs = 0
  /** Monotonic clock at the last refusal for its delay. */
  #refusedMono = 0
  /** When the first of consecutive turns ended behind which more connections waited to be accepted. */
  #crowdedFrom: Clocks = { mono: 0, cpuMs: 0 }
  /** Connections have waited for too long to be accepted: as it was at the last look, and since then. */
  #isCrowded = false
  #wasCrowded = false
  #maxDelayMs = OFF.maxLoopDelayMs
  #maxInFlight: readonly number[] = []
  #overloaded = refuseFor('', OFF)
  #delayed = refuseFor('', OFF)

  constructor(readClocks: () => Clocks = clocksOfProcess) {
    this.#readClocks = readClocks
    this.configure(OFF)
  }

  /** Takes the limits of a configuration; what was measured stays. */
  configure(plan: OverloadPlan): void {
    const { maxInFlight } = plan
    this.#maxDelayMs = plan.maxLoopDelayMs
    if (this.#maxDelayMs === 0) this.#isOverloaded = false
    this.#maxInFlight = IN_FLIGHT_SHARES.map((share) =>
      maxInFlight === null ? Number.POSITIVE_INFINITY : Math.max(1, maxInFlight * share),
    )
    this.#overloaded = refuseFor('this worker has as many requests in flight as it takes', plan)
    this.#delayed = refuseFor('this worker has more to do than it can', plan)
  }

  /** Takes a delay of the event loop, ms; called with every look at it. */
  onLoopDelay(lateMs: number): void {
    if (this.#maxDelayMs === 0) return
    const now = this.#readClocks()
    const workedMs = now.cpuMs - this.#looked.cpuMs
    this.#looked = now
    this.#workedMs = 0
    this.#isCrowded = this.#wasCrowded
    this.#wasCrowded = false
    if (Math.min(lateMs, workedMs) > this.#maxDelayMs) {
      if (++this.#lateLooks < LATE_LOOKS || this.#isOverloaded) return
      this.#isOverloaded = true
      this.#refusedMono = now.mono
    } else {
      this.#lateLooks = 0
      if (now.mono - this.#refusedMono > CALM_MS) this.#isOverloaded = false
    }
  }

  /**
   * Takes the end of a turn behind which more connections may wait to be accepted. What waits there counts as a delay of the
   * event loop, although each turn by itself may be short.
   * @param isFirst the turn before left none behind.
   */
  onFullAcceptTurn(isFirst: boolean): void {
    if (this.#maxDelayMs === 0) return
    const now = this.#readClocks()
    if (isFirst) this.#crowdedFrom = now
    const { mono, cpuMs } = this.#crowdedFrom
    if (Math.min(now.mono - mono, now.cpuMs - cpuMs) <= this.#maxDelayMs) return
    this.#wasCrowded = true
    this.#isOverloaded = true
    this.#refusedMono = now.mono
  }

  /** Why a request is not taken; null when it is. */
  refusalOf({ criticality }: Route, inFlight: number): Reply | null {
    const isOver = inFlight >= this.#maxInFlight[criticality]!
    if (!isOver && (!this.#isOverloaded || !this.#isReachedLate(criticality))) return null
    this.#shed[criticality]!++
    return isOver ? this.#overloaded : this.#delayed
  }

  /** The refusal is for a late event loop alone: its request may stay for as long as its body takes to come. */
  isForDelay(refused: Reply): boolean {
    return refused === this.#delayed
  }

  samples(worker: number): Sample[] {
    return [
      {
        name: 'gw_worker_overloaded',
        labels: label('worker', String(worker)),
        value: Number(this.#isOverloaded),
      },
      ...CRITICALITIES.map((name, i) => ({
        name: 'gw_requests_shed_total',
        labels: label('criticality', name),
        value: this.#shed[i]!,
      })),
    ]
  }

  #isReachedLate(criticality: number): boolean {
    if (criticality === 2) return false
    const limit = TAKEN_MS[criticality]! / (this.#isCrowded ? CROWDED_DIVISOR : 1)
    if (this.#workedMs <= limit) {
      const { mono, cpuMs } = this.#readClocks()
      this.#workedMs = Math.min(mono - this.#looked.mono, cpuMs - this.#looked.cpuMs)
      if (this.#workedMs <= limit) return false
      this.#refusedMono = mono
    }
    return true
  }
}

/** Read together, ms: the monotonic clock, and the processor time of the process. */
interface Clocks {
  readonly mono: number
  readonly cpuMs: number
}

function clocksOfProcess(): Clocks {
  const { user, system } = process.cpuUsage()
  return { mono: performance.now(), cpuMs: (user + system) / 1000 }
}

function refuseFor(detail: string, { retryAfterMs }: OverloadPlan): Reply {
  return refusal('GW_OVERLOADED', detail, ['retry-after', String(Math.ceil(retryAfterMs / 1000))])
}
