import type { BreakerPlan, OutlierPlan } from '@sluice/config'
import type { AttemptTimes } from './attempt-window.js'
import { Breaker } from './breaker.js'
import { Ejection, type EjectionPool } from './ejection.js'

/** Why a target is sent nothing, or no more than probes; the first that holds. */
export type TargetCondition = 'drained' | 'unhealthy' | 'ejected' | 'open' | 'half-open' | 'available'

/** What the supervisor knows of a target. */
export interface KnownState {
  readonly isDrained: boolean
  readonly isHealthy: boolean
}

/** How a target's state is made. */
export interface TargetStateOptions {
  readonly breaker: BreakerPlan | null
  readonly outlier: OutlierPlan | null
  readonly pool: EjectionPool
  /** The condition has changed. */
  readonly onChange: (condition: TargetCondition) => void
}

/**
 * The one owner of what decides whether a target is sent requests: what the supervisor knows (drained, unhealthy), and what
 * this worker has seen of its attempts (breaker, ejection).
 *
 *     begin ─► wait (the request is sent) ─► settle (answered or failed) ─► complete | failLate
 *                                         └► leave (given up before it had an outcome)
 */
export class TargetState {
  readonly breaker: Breaker | null
  readonly ejection: Ejection | null
  /** The outcomes of attempts are asked for. */
  readonly isWatched: boolean
  readonly #onChange: (condition: TargetCondition) => void
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

  /** The target whose `isAvailable` it keeps from now on. */
  attach(target: { isAvailable: boolean }): void {
    this.#target = target
  }

  get condition(): TargetCondition {
    return this.#condition
  }

  /** While no target is available, one that is only unhealthy or ejected may be tried. */
  get isTryable(): boolean {
    return !this.#known.isDrained && (this.breaker === null || this.breaker.admits)
  }

  /** When its state may change by itself; infinite: not, or the supervisor changes it. */
  get changesMono(): number {
    if (this.#condition === 'open') return this.breaker!.opensUntilMono
    return this.#condition === 'ejected' ? this.ejection!.returnsMono : Number.POSITIVE_INFINITY
  }

  /** What it has learned last. */
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

  /** All of the request is sent: the target is waited for. */
  wait(times: AttemptTimes): void {
    this.breaker?.wait(times)
    this.ejection?.wait(times)
  }

  /**
   * @param isFailure no answer, or one of 5xx.
   * @returns whether `complete` may follow: it was no failure, nor too late.
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
    this.#onChange(condition)
  }

  #findCondition(): TargetCondition {
    if (this.#known.isDrained) return 'drained'
    if (!this.#known.isHealthy) return 'unhealthy'
    if (this.ejection?.isEjected === true) return 'ejected'
    const state = this.breaker?.state ?? 'closed'
    return state === 'closed' ? 'available' : state
  }
}
