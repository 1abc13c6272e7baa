import type { BreakerPlan, OutlierPlan } from '@sluice/config'
import type { AttemptTimes } from './attempt-window.js'
import { Breaker } from './breaker.js'
import { Ejection, type EjectionPool } from './ejection.js'

/** Reason for sending a target nothing, or only probes; the first one that applies. */
export type TargetCondition = 'drained' | 'unhealthy' | 'ejected' | 'open' | 'half-open' | 'available'

/** The supervisor's knowledge of a target. */
export interface KnownState {
  readonly isDrained: boolean
  readonly isHealthy: boolean
}

interface TargetStateOptions {
  readonly breaker: BreakerPlan | null
  readonly outlier: OutlierPlan | null
  readonly pool: EjectionPool
  /** Called when the condition has changed. */
  /** Called with the figures that caused the condition, if attempts did. */
  readonly onChange: (condition: TargetCondition, figures: object) => void
}

/**
 * Decides if a target gets requests, from the supervisor's knowledge (drained, unhealthy) and from the attempts of this
 * worker (breaker, ejection).
 *
 *     begin ─► wait (the request is sent) ─► settle (answered or failed) ─► complete | failLate
 *                                         └► leave (abandoned before it had an outcome)
 */
export class TargetState {
  readonly breaker: Breaker | null
  readonly ejection: Ejection | null
  /** True if the outcomes of attempts are needed. */
  readonly isWatched: boolean
  readonly #onChange: TargetStateOptions['onChange']
  #target: { isAvailable: boolean } | null = null
  #known: KnownState = { isDrained: false, isHealthy: true }
  #condition: TargetCondition = 'available'

  constructor({ breaker, outlier, pool, onChange }: TargetStateOptions) {
    const update = (): void => this.#update()
    this.breaker = breaker === null ? null : new Breaker(breaker, update)
    this.ejection = outlier === null ? null : new Ejection(outlier, pool, update)
    this.isWatched = breaker !== null || outlier !== null
    this.#onChange = onChange
  }

  /** Sets the target whose `isAvailable` is updated. */
  attach(target: { isAvailable: boolean }): void {
    this.#target = target
  }

  get condition(): TargetCondition {
    return this.#condition
  }

  /** True if the target may be tried when none is available: it is only unhealthy or ejected. */
  get isTryable(): boolean {
    return !this.#known.isDrained && (this.breaker === null || this.breaker.admits)
  }

  /** Monotonic time at which the condition may change by itself; infinite if only the supervisor changes it. */
  get changesMono(): number {
    if (this.#condition === 'open') return this.breaker!.opensUntilMono
    return this.#condition === 'ejected' ? this.ejection!.returnsMono : Number.POSITIVE_INFINITY
  }

  /** Last state received from the supervisor. */
  get known(): KnownState {
    return this.#known
  }

  learn(known: KnownState): void {
    this.#known = known
    this.#update()
  }

  begin(times: AttemptTimes): void {
    this.breaker?.begin(times)
    this.ejection?.begin(times.beganMono)
  }

  /** Records that the request was fully sent and the target is being waited for. */
  wait(times: AttemptTimes): void {
    this.breaker?.wait(times)
    this.ejection?.wait(times)
  }

  /**
   * Records a response or failure of an attempt.
   * @param isFailure true for no response or a 5xx status.
   * @returns true if `complete` may follow: it was neither a failure nor too slow.
   */
  settle(times: AttemptTimes, isFailure: boolean): boolean {
    const nowMono = performance.now()
    this.breaker?.settle(times, nowMono, isFailure)
    return this.ejection === null ? !isFailure : !this.ejection.settle(times, nowMono, isFailure)
  }

  failLate(times: AttemptTimes): void {
    const nowMono = performance.now()
    this.breaker?.failLate(times, nowMono)
    this.ejection?.failLate(times, nowMono)
  }

  complete(times: AttemptTimes): void {
    this.ejection?.complete(times)
  }

  leave(times: AttemptTimes): void {
    const nowMono = performance.now()
    this.breaker?.leave(times, nowMono)
    this.ejection?.leave(times, nowMono)
  }

  close(): void {
    this.breaker?.close()
    this.ejection?.close()
  }

  #update(): void {
    const condition = this.#findCondition()
    const { breaker } = this
    if (this.#target !== null) {
      this.#target.isAvailable =
        condition === 'available' || (condition === 'half-open' && breaker?.admits === true)
    }
    if (condition === this.#condition) return
    this.#condition = condition
    const cause =
      condition === 'open' ? breaker?.cause : condition === 'ejected' ? this.ejection?.cause : null
    this.#onChange(condition, cause ?? {})
  }

  #findCondition(): TargetCondition {
    if (this.#known.isDrained) return 'drained'
    if (!this.#known.isHealthy) return 'unhealthy'
    if (this.ejection?.isEjected === true) return 'ejected'
    const state = this.breaker?.state ?? 'closed'
    return state === 'closed' ? 'available' : state
  }
}
