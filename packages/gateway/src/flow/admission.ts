import type { OverloadPlan } from '@sluice/config'
import { type Reply, refusal } from '@sluice/core'
import { type Clocks, processClocks, workBetween } from '../lib/process-clocks.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import { CRITICALITIES, type Route } from './route.js'

/** Number of consecutive late checks that count as overload. One long task does not. */
const LATE_CHECKS = 2
/** Time without a late request after which the overload ends, in milliseconds. */
const RECOVERY_MS = 1000
/**
 * Work since the last event-loop check (one every 20 ms) after which low and normal requests are refused, in
 * milliseconds.
 */
const WORK_LIMIT_MS = [32, 40] as const
/**
 * Divisor for these limits while connections wait to be accepted, because a worker accepts only at the end of a turn.
 */
const BACKLOG_DIVISOR = 4
/** Fraction of `maxInFlight` at which requests are refused, by criticality. */
const IN_FLIGHT_SHARES = [0.8, 1, 1.2] as const
const OFF: OverloadPlan = { maxLoopDelayMs: 0, maxInFlight: null, retryAfterMs: 1000 }

/**
 * Load shedding for a worker, with two limits, as in Envoy's overload manager: requests in flight and event-loop delay.
 * While the loop stays late, each turn has more input than it can process. Requests reached late in a turn have waited
 * long, so they are refused before they cost more.
 *
 * Delay counts only as far as the process used the CPU: a process that waits for a CPU gains nothing from refusals.
 * Requests of routes with `criticality: low` are refused first. Delay never causes a `critical` request to be refused.
 */
export class Admission {
  readonly #readClocks: () => Clocks
  /** Number of refused requests, by criticality. */
  readonly #shed = [0, 0, 0]
  #isOverloaded = false
  /** Number of consecutive late checks. */
  #lateChecks = 0
  /** Clocks at the last event-loop check. */
  #lastCheck: Clocks = { mono: 0, cpuMs: 0 }
  /** Work since then as last measured, in milliseconds. Reading the CPU clock costs more than the rest of a refusal. */
  #workedMs = 0
  /** Monotonic time of the last refusal for delay. */
  #refusedMono = 0
  /** Clocks at the first of the consecutive turns that left connections waiting to be accepted. */
  #backlogSince: Clocks = { mono: 0, cpuMs: 0 }
  /**
   * True if connections had waited too long to be accepted at the last check; `#hadBacklog` covers the time since then.
   */
  #hasBacklog = false
  #hadBacklog = false
  #maxDelayMs = OFF.maxLoopDelayMs
  #maxInFlight: readonly number[] = []
  #overloaded = refuseFor('', OFF)
  #delayed = refuseFor('', OFF)

  constructor(readClocks: () => Clocks = processClocks) {
    this.#readClocks = readClocks
    this.configure(OFF)
  }

  /** Applies the limits of a configuration. Measurements are kept. */
  configure(plan: OverloadPlan): void {
    const { maxInFlight } = plan
    this.#maxDelayMs = plan.maxLoopDelayMs
    if (this.#maxDelayMs === 0) this.#isOverloaded = false
    this.#maxInFlight = IN_FLIGHT_SHARES.map((share) =>
      maxInFlight === null ? Number.POSITIVE_INFINITY : Math.max(1, maxInFlight * share),
    )
    this.#overloaded = refuseFor('this worker has reached its limit for requests in flight', plan)
    this.#delayed = refuseFor('this worker is overloaded', plan)
  }

  /** Records the event-loop delay in milliseconds. Called at every check. */
  onLoopDelay(lateMs: number): void {
    if (this.#maxDelayMs === 0) return
    const now = this.#readClocks()
    const workedMs = now.cpuMs - this.#lastCheck.cpuMs
    this.#lastCheck = now
    this.#workedMs = 0
    this.#hasBacklog = this.#hadBacklog
    this.#hadBacklog = false
    if (Math.min(lateMs, workedMs) > this.#maxDelayMs) {
      if (++this.#lateChecks < LATE_CHECKS || this.#isOverloaded) return
      this.#isOverloaded = true
      this.#refusedMono = now.mono
    } else {
      this.#lateChecks = 0
      if (now.mono - this.#refusedMono > RECOVERY_MS) this.#isOverloaded = false
    }
  }

  /**
   * Records the end of a turn that may have left connections waiting to be accepted. Their waiting time counts as
   * event-loop delay, even if each turn is short.
   * @param isFirst true if the previous turn left none waiting.
   */
  onFullAcceptTurn(isFirst: boolean): void {
    if (this.#maxDelayMs === 0) return
    const now = this.#readClocks()
    if (isFirst) this.#backlogSince = now
    if (workBetween(this.#backlogSince, now) <= this.#maxDelayMs) return
    this.#hadBacklog = true
    this.#isOverloaded = true
    this.#refusedMono = now.mono
  }

  /** Returns the refusal of a request, or null if it is admitted. */
  refusalOf({ criticality }: Route, inFlight: number): Reply | null {
    const isOver = inFlight >= this.#maxInFlight[criticality]!
    if (!isOver && (!this.#isOverloaded || !this.#isReachedLate(criticality))) return null
    this.#shed[criticality]!++
    return isOver ? this.#overloaded : this.#delayed
  }

  /**
   * True if the only reason for the refusal is event-loop delay. The connection may then stay open while the body
   * arrives.
   */
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
    const limit = WORK_LIMIT_MS[criticality]! / (this.#hasBacklog ? BACKLOG_DIVISOR : 1)
    if (this.#workedMs <= limit) {
      const now = this.#readClocks()
      this.#workedMs = workBetween(this.#lastCheck, now)
      if (this.#workedMs <= limit) return false
      this.#refusedMono = now.mono
    }
    return true
  }
}

function refuseFor(detail: string, { retryAfterMs }: OverloadPlan): Reply {
  return refusal('GW_OVERLOADED', detail, ['retry-after', String(Math.ceil(retryAfterMs / 1000))])
}
