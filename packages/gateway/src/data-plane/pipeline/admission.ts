import type { OverloadPlan } from '@sluice/config'
import { type Reply, refusal } from '@sluice/core'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import { CRITICALITIES, type Route } from './route.js'

/** How much the shed share grows or falls with each look at the event loop, of which there are 50 a second. */
const STEP = 0.05
/** Shares of `maxInFlight` from which requests are refused, by criticality. */
const IN_FLIGHT_SHARES = [0.8, 1, 1.2] as const
const OFF: OverloadPlan = { maxLoopDelayMs: 0, maxInFlight: null, retryAfterMs: 1000 }

/**
 * Decides which requests a worker takes when there are more than it can serve. Two limits, as in Envoy's overload
 * manager: requests in flight, and the delay of the event loop. While the delay is above its limit, a growing share of
 * the requests is refused, those of routes with `criticality: low` first; `critical` ones are never refused for it.
 */
export class Admission {
  /** Requests refused, by criticality. */
  readonly #shed = [0, 0, 0]
  /** Of the next request of a class: how much of it is refused already. */
  readonly #credits = [0, 0, 0]
  /** 0 to 1: up to a half only low requests are refused, from there on normal ones too. */
  #share = 0
  #maxDelayMs = OFF.maxLoopDelayMs
  #maxInFlight: readonly number[] = []
  #overloaded = refuseFor('', OFF)
  #delayed = refuseFor('', OFF)

  constructor() {
    this.configure(OFF)
  }

  /** Takes the limits of a configuration; what was measured stays. */
  configure(plan: OverloadPlan): void {
    const { maxInFlight } = plan
    this.#maxDelayMs = plan.maxLoopDelayMs
    if (this.#maxDelayMs === 0) this.#share = 0
    this.#maxInFlight = IN_FLIGHT_SHARES.map((share) =>
      maxInFlight === null ? Number.POSITIVE_INFINITY : Math.max(1, maxInFlight * share),
    )
    this.#overloaded = refuseFor('this worker has as many requests in flight as it takes', plan)
    this.#delayed = refuseFor('this worker has more to do than it can', plan)
  }

  /** Takes a delay of the event loop, ms. */
  onLoopDelay(lateMs: number): void {
    if (this.#maxDelayMs === 0) return
    const share = this.#share + (lateMs > this.#maxDelayMs ? STEP : -STEP)
    this.#share = Math.min(1, Math.max(0, share))
  }

  /** Why a request is not taken; null when it is. */
  refusalOf({ criticality }: Route, inFlight: number): Reply | null {
    const isOver = inFlight >= this.#maxInFlight[criticality]!
    if (!isOver && (this.#share === 0 || !this.#sheds(criticality))) return null
    this.#shed[criticality]!++
    return isOver ? this.#overloaded : this.#delayed
  }

  samples(worker: number): Sample[] {
    return [
      { name: 'gw_worker_shed_share', labels: label('worker', String(worker)), value: this.#share },
      ...CRITICALITIES.map((name, i) => ({
        name: 'gw_requests_shed_total',
        labels: label('criticality', name),
        value: this.#shed[i]!,
      })),
    ]
  }

  /** Refuses evenly: of a share of a third every third request. */
  #sheds(criticality: number): boolean {
    if (criticality === 2) return false
    const share = criticality === 0 ? Math.min(1, 2 * this.#share) : 2 * this.#share - 1
    if (share <= 0) return false
    const credit = this.#credits[criticality]! + share
    const isShed = credit >= 1
    this.#credits[criticality] = isShed ? credit - 1 : credit
    return isShed
  }
}

function refuseFor(detail: string, { retryAfterMs }: OverloadPlan): Reply {
  return refusal('GW_OVERLOADED', detail, ['retry-after', String(Math.ceil(retryAfterMs / 1000))])
}
