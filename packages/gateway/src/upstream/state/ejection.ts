import type { OutlierPlan } from '@sluice/config'
import { type AttemptFigures, type AttemptTimes, AttemptWindow } from './attempt-window.js'
import { Backoff } from './backoff.js'

/** Number of ejected targets of an upstream, and its limit. */
export class EjectionPool {
  readonly #share: number
  #most = 0
  #ejected = 0

  /** @param share maximum fraction of the targets, from 0 to 1; rounded down. */
  constructor(share: number) {
    this.#share = share
  }

  /** Sets the number of targets with a weight. */
  setTargets(count: number): void {
    this.#most = Math.floor(count * this.#share)
  }

  take(): boolean {
    if (this.#ejected >= this.#most) return false
    this.#ejected++
    return true
  }

  release(): void {
    this.#ejected--
  }
}

/** Removes a failing target from load balancing in one worker, each time for longer. */
export class Ejection {
  isEjected = false
  ejections = 0
  /** Figures that ejected it the last time. */
  cause: (AttemptFigures & { readonly failuresInRow: number }) | null = null
  readonly #plan: OutlierPlan
  readonly #pool: EjectionPool
  readonly #window: AttemptWindow
  readonly #time: Backoff
  readonly #onChange: () => void
  #timer: NodeJS.Timeout | null = null
  #failuresInRow = 0

  constructor(plan: OutlierPlan, pool: EjectionPool, onChange: () => void) {
    this.#plan = plan
    this.#pool = pool
    this.#window = new AttemptWindow(plan)
    this.#time = new Backoff(plan.ejectMs, plan.maxEjectMs)
    this.#onChange = onChange
  }

  /** Monotonic time at which the ejected target returns. */
  get returnsMono(): number {
    return this.#time.overMono
  }

  begin(nowMono: number): void {
    if (!this.isEjected && this.#window.isHanging(nowMono)) this.#eject(nowMono)
  }

  /** Records that an attempt's request was fully sent. */
  wait(times: AttemptTimes): void {
    if (this.#counts(times)) this.#window.wait(times.sentMono)
  }

  /** Records a response or failure of an attempt. @returns true if it was a failure or too slow. */
  settle(times: AttemptTimes, nowMono: number, isFailure: boolean): boolean {
    const isBad = isFailure || this.#window.isSlow(times, nowMono)
    if (!this.#counts(times)) return isBad
    this.#window.add(nowMono, isBad, false)
    if (isBad) this.#fail(nowMono)
    return isBad
  }

  /** Records that an answered attempt has failed. */
  failLate(times: AttemptTimes, nowMono: number): void {
    if (!this.#counts(times)) return
    this.#window.addFailure(nowMono)
    this.#fail(nowMono)
  }

  /** Records that an attempt has ended well and in time. */
  complete(times: AttemptTimes): void {
    if (this.#counts(times)) this.#failuresInRow = 0
  }

  /** Records that an attempt was abandoned. It counts as a failure if it took too long. */
  leave(times: AttemptTimes, nowMono: number): void {
    if (this.#window.isSlow(times, nowMono)) this.settle(times, nowMono, true)
    else if (this.#counts(times)) this.#window.leave()
  }

  /** Closes the state of a removed target, and returns its place in the pool. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.isEjected) this.#pool.release()
    this.isEjected = false
  }

  #counts(times: AttemptTimes): boolean {
    return !this.isEjected && this.#window.covers(times)
  }

  #fail(nowMono: number): void {
    this.#failuresInRow++
    if (this.#failuresInRow >= this.#plan.consecutiveFailures || this.#window.isFailing) this.#eject(nowMono)
  }

  #eject(nowMono: number): void {
    if (!this.#pool.take()) return
    this.ejections++
    this.cause = { ...this.#window.figures, failuresInRow: this.#failuresInRow }
    this.isEjected = true
    this.#window.restart(nowMono)
    this.#timer = setTimeout(() => this.#return(), this.#time.next(nowMono))
    this.#timer.unref()
    this.#onChange()
  }

  #return(): void {
    this.#pool.release()
    this.isEjected = false
    this.#window.restart(performance.now())
    // The first attempt decides if it works again.
    this.#failuresInRow = this.#plan.consecutiveFailures - 1
    this.#onChange()
  }
}
