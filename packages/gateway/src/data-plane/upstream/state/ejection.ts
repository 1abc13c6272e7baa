import type { OutlierPlan } from '@sluice/config'
import { type AttemptTimes, AttemptWindow } from './attempt-window.js'
import { GrowingTime } from './growing-time.js'

/** How many targets of an upstream are ejected, of those that may be at once. */
export class EjectionPool {
  readonly #share: number
  #most = 0
  #ejected = 0

  /** @param share of the targets, 0 to 1; rounded down. */
  constructor(share: number) {
    this.#share = share
  }

  /** The upstream has so many targets with a weight from now on. */
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

/** Takes one target that fails out of the pool of one worker, for a time that grows. */
export class Ejection {
  isEjected = false
  /** How often it was ejected. */
  ejections = 0
  readonly #plan: OutlierPlan
  readonly #pool: EjectionPool
  readonly #window: AttemptWindow
  readonly #time: GrowingTime
  readonly #onChange: () => void
  #timer: NodeJS.Timeout | null = null
  #failuresInRow = 0

  constructor(plan: OutlierPlan, pool: EjectionPool, onChange: () => void) {
    this.#plan = plan
    this.#pool = pool
    this.#window = new AttemptWindow(plan)
    this.#time = new GrowingTime(plan.ejectMs, plan.maxEjectMs)
    this.#onChange = onChange
  }

  /** When the ejected target returns. */
  get returnsMono(): number {
    return this.#time.overMono
  }

  begin(nowMono: number): void {
    if (!this.isEjected && this.#window.isSilent(nowMono)) this.#eject(nowMono)
  }

  /** All of an attempt's request is sent. */
  wait(times: AttemptTimes): void {
    if (this.#counts(times)) this.#window.wait(times.sentMono)
  }

  /** An attempt is answered, or has failed. @returns whether that was a failure, or too late. */
  settle(times: AttemptTimes, nowMono: number, isFailure: boolean): boolean {
    const isBad = isFailure || this.#window.isSlow(times, nowMono)
    if (!this.#counts(times)) return isBad
    this.#window.add(nowMono, isBad, false)
    if (isBad) this.#fail(nowMono)
    return isBad
  }

  /** An attempt failed when it was answered already. */
  failLate(times: AttemptTimes, nowMono: number): void {
    if (!this.#counts(times)) return
    this.#window.addFailure(nowMono)
    this.#fail(nowMono)
  }

  /** An attempt was answered well and in time, and has ended. */
  complete(times: AttemptTimes): void {
    if (this.#counts(times)) this.#failuresInRow = 0
  }

  /** An attempt was given up before it had an outcome; a failure if it had taken too long. */
  leave(times: AttemptTimes, nowMono: number): void {
    if (this.#window.isSlow(times, nowMono)) this.settle(times, nowMono, true)
    else if (this.#counts(times)) this.#window.leave()
  }

  /** The target is gone for good; what it has taken of the pool is free for others. */
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
    // Whether it works again shows with the first attempt.
    this.#failuresInRow = this.#plan.consecutiveFailures - 1
    this.#onChange()
  }
}
