import type { BreakerPlan } from '@sluice/config'
import { type AttemptTimes, AttemptWindow } from './attempt-window.js'
import { GrowingTime } from './growing-time.js'

/** A probe whose client still sends its body after so long, or after `openFor`, gives its place to another one, ms. */
const UPLOAD_MS = 1000

export type BreakerState = 'closed' | 'open' | 'half-open'

/**
 * The circuit breaker of one target in one worker:
 *
 *     closed ──► open (failures, or slow attempts) ──► half-open (openFor is over) ──► closed (every probe succeeded)
 *                  ▲                                        │
 *                  └──────── a probe failed, twice as long ─┘
 */
export class Breaker {
  state: BreakerState = 'closed'
  /** How often it has opened. */
  openings = 0
  readonly #plan: BreakerPlan
  readonly #window: AttemptWindow
  readonly #time: GrowingTime
  readonly #onChange: () => void
  #timer: NodeJS.Timeout | null = null
  /** Of the half-open breaker: what is under way, each until its client has had long enough to send its body. */
  readonly #probes = new Map<AttemptTimes, NodeJS.Timeout>()
  #succeeded = 0

  constructor(plan: BreakerPlan, onChange: () => void) {
    this.#plan = plan
    this.#window = new AttemptWindow(plan)
    this.#time = new GrowingTime(plan.openMs, plan.maxOpenMs)
    this.#onChange = onChange
  }

  /** Whether one more attempt may begin. */
  get admits(): boolean {
    if (this.state === 'half-open') return this.#probes.size + this.#succeeded < this.#plan.probes
    return this.state === 'closed'
  }

  /** When the open breaker lets probes through. */
  get opensUntilMono(): number {
    return this.#time.overMono
  }

  begin(times: AttemptTimes): void {
    const nowMono = times.beganMono
    if (this.state === 'closed' && this.#window.isSilent(nowMono)) this.#open(nowMono)
    if (this.state !== 'half-open') return
    this.#probes.set(times, this.#watchUpload(times))
    if (!this.admits) this.#onChange()
  }

  /** All of an attempt's request is sent. */
  wait(times: AttemptTimes): void {
    if (this.#window.covers(times)) this.#window.wait(times.sentMono)
  }

  /** An attempt is answered, or has failed. */
  settle(times: AttemptTimes, nowMono: number, isFailure: boolean): void {
    if (this.state === 'open' || !this.#window.covers(times)) return
    const isSlow = this.#window.isSlow(times, nowMono)
    this.#window.add(nowMono, isFailure, isSlow)
    if (this.state === 'half-open') this.#settleProbe(times, nowMono, isFailure || isSlow)
    else if (this.#isBad) this.#open(nowMono)
  }

  /** An attempt failed when it was answered already. */
  failLate(times: AttemptTimes, nowMono: number): void {
    if (this.state !== 'closed' || !this.#window.covers(times)) return
    this.#window.addFailure(nowMono)
    if (this.#isBad) this.#open(nowMono)
  }

  /** An attempt was given up before it had an outcome; it is slow if it had taken so long. */
  leave(times: AttemptTimes, nowMono: number): void {
    if (this.#window.isSlow(times, nowMono)) {
      this.settle(times, nowMono, false)
      return
    }
    if (this.state === 'open' || !this.#window.covers(times)) return
    this.#window.leave()
    if (this.#dropProbe(times)) this.#onChange()
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#dropProbes()
  }

  get #isBad(): boolean {
    const window = this.#window
    return window.isFailing || window.hasShare(window.slow, this.#plan.slowRatio)
  }

  #settleProbe(times: AttemptTimes, nowMono: number, isBad: boolean): void {
    this.#dropProbe(times)
    if (isBad) this.#open(nowMono)
    else if (++this.#succeeded === this.#plan.probes) this.#become('closed', nowMono)
  }

  /** A slow client says nothing of the target. */
  #watchUpload(times: AttemptTimes): NodeJS.Timeout {
    const giveWay = (): void => {
      if (times.sentMono === 0 && this.#dropProbe(times)) this.#onChange()
    }
    return setTimeout(giveWay, Math.min(UPLOAD_MS, this.#plan.openMs)).unref()
  }

  /** False: it has given its place away, or is no probe. */
  #dropProbe(times: AttemptTimes): boolean {
    clearTimeout(this.#probes.get(times))
    return this.#probes.delete(times)
  }

  #dropProbes(): void {
    for (const timer of this.#probes.values()) clearTimeout(timer)
    this.#probes.clear()
  }

  #open(nowMono: number): void {
    this.openings++
    this.#timer = setTimeout(() => this.#become('half-open', performance.now()), this.#time.next(nowMono))
    this.#timer.unref()
    this.#become('open', nowMono)
  }

  #become(state: BreakerState, nowMono: number): void {
    this.state = state
    this.#dropProbes()
    this.#succeeded = 0
    this.#window.restart(nowMono)
    this.#onChange()
  }
}
