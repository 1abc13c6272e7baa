import type { BreakerPlan } from '@sluice/config'
import { type AttemptFigures, type AttemptTimes, AttemptWindow } from './attempt-window.js'
import { Backoff } from './backoff.js'

/**
 * Time after which a probe whose client is still sending its body gives way to another probe, in milliseconds.
 * `openFor` applies if it is shorter.
 */
const UPLOAD_MS = 1000

/** State of a circuit breaker. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/**
 * Circuit breaker of one target in one worker:
 *
 *     closed ──► open (failures, or slow attempts) ──► half-open (openFor is over) ──► closed (every probe succeeded)
 *                  ▲                                        │
 *                  └──────── a probe failed, twice as long ─┘
 */
export class Breaker {
  state: BreakerState = 'closed'
  /** Number of times it has opened. */
  openings = 0
  /** Figures that opened it the last time. */
  cause: AttemptFigures | null = null
  readonly #plan: BreakerPlan
  readonly #window: AttemptWindow
  readonly #time: Backoff
  readonly #onChange: () => void
  #timer: NodeJS.Timeout | null = null
  /** Probes in progress while half-open, each with the timer for its upload. */
  readonly #probes = new Map<AttemptTimes, NodeJS.Timeout>()
  #succeeded = 0

  constructor(plan: BreakerPlan, onChange: () => void) {
    this.#plan = plan
    this.#window = new AttemptWindow(plan)
    this.#time = new Backoff(plan.openMs, plan.maxOpenMs)
    this.#onChange = onChange
  }

  /** True if one more attempt may start. */
  get admits(): boolean {
    if (this.state === 'half-open') return this.#probes.size + this.#succeeded < this.#plan.probes
    return this.state === 'closed'
  }

  /** Monotonic time at which the open breaker admits probes. */
  get opensUntilMono(): number {
    return this.#time.overMono
  }

  begin(times: AttemptTimes): void {
    const nowMono = times.beganMono
    if (this.state === 'closed' && this.#window.isHanging(nowMono)) this.#open(nowMono)
    if (this.state !== 'half-open') return
    this.#probes.set(times, this.#watchUpload(times))
    if (!this.admits) this.#onChange()
  }

  /** Records that an attempt's request was fully sent. */
  wait(times: AttemptTimes): void {
    if (this.#window.covers(times)) this.#window.wait(times.sentMono)
  }

  /** Records a response or failure of an attempt. */
  settle(times: AttemptTimes, nowMono: number, isFailure: boolean): void {
    if (this.state === 'open' || !this.#window.covers(times)) return
    const isSlow = this.#window.isSlow(times, nowMono)
    this.#window.add(nowMono, isFailure, isSlow)
    if (this.state === 'half-open') this.#settleProbe(times, nowMono, isFailure || isSlow)
    else if (this.#isBad) this.#open(nowMono)
  }

  /** Records that an answered attempt has failed. */
  failLate(times: AttemptTimes, nowMono: number): void {
    if (this.state !== 'closed' || !this.#window.covers(times)) return
    this.#window.addFailure(nowMono)
    if (this.#isBad) this.#open(nowMono)
  }

  /** Records that an attempt was abandoned. It counts as slow if it took that long. */
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
    return window.isFailing || window.reachesRatio(window.slow, this.#plan.slowRatio)
  }

  #settleProbe(times: AttemptTimes, nowMono: number, isBad: boolean): void {
    this.#dropProbe(times)
    if (isBad) this.#open(nowMono)
    else if (++this.#succeeded === this.#plan.probes) this.#become('closed', nowMono)
  }

  /** A slow client says nothing about the target, so its probe gives way. */
  #watchUpload(times: AttemptTimes): NodeJS.Timeout {
    const giveWay = (): void => {
      if (times.sentMono === 0 && this.#dropProbe(times)) this.#onChange()
    }
    return setTimeout(giveWay, Math.min(UPLOAD_MS, this.#plan.openMs)).unref()
  }

  /** Ends a probe. Returns false if it has already given way, or is not a probe. */
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
    this.cause = this.#window.figures
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
