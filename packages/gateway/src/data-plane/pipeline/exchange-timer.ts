import { performance } from 'node:perf_hooks'
import type { Exchange, Phase } from '@sluice/core'
import type { Deadline } from '../lib/timer-wheel.js'
import type { PipelineContext } from './context.js'
import { paceDeadline } from './pace.js'

/** Whom an exchange waits for, which decides what a missed deadline means. */
export type Waiting =
  | 'nobody'
  | 'policy'
  | 'filter'
  | 'request-body'
  | 'connection'
  | 'response'
  | 'response-body'
  | 'client'

/** Hears that whom the exchange waits for is too late. */
export interface TimerOwner {
  /** @param isTotal the bound for the whole exchange is what was missed. */
  onOverdue(waiting: Waiting, isTotal: boolean): void
}

/** The time of one exchange: until when it waits for whom, and which of its phases the time counts for. */
export class ExchangeTimer implements Deadline {
  waiting: Waiting = 'nobody'
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #x: Exchange
  readonly #context: PipelineContext
  readonly #owner: TimerOwner
  /** Somebody reads the times of the phases. */
  readonly #isLogged: boolean
  #totalDueAt = Number.POSITIVE_INFINITY

  constructor(x: Exchange, isLogged: boolean, context: PipelineContext, owner: TimerOwner) {
    this.#x = x
    this.#isLogged = isLogged
    this.#context = context
    this.#owner = owner
  }

  /** Bounds the whole exchange, which every deadline keeps to. 0: no bound. */
  boundTotal(totalMs: number): void {
    if (totalMs !== 0) this.#totalDueAt = this.#x.startedMono + totalMs
  }

  /** Until the bound for the whole exchange, ms. */
  get leftMs(): number {
    return this.#totalDueAt - performance.now()
  }

  /** Arms the deadline for whom the exchange waits for now. */
  waitFor(whom: Waiting, ms: number): void {
    this.#arm(whom, this.#context.clock.now() + ms)
  }

  /** The same where another phase begins; one reading of the clock serves both. */
  waitIn(phase: Phase, whom: Waiting, ms: number): void {
    const nowMono = this.#isLogged ? performance.now() : this.#context.clock.now()
    this.#x.times.enter(phase, nowMono)
    this.#arm(whom, nowMono + ms)
  }

  /** Another phase begins; the clock is read only where somebody reads the times. */
  enter(phase: Phase): void {
    if (this.#isLogged) this.#x.times.enter(phase, performance.now())
    else this.#x.times.phase = phase
  }

  #arm(whom: Waiting, dueAt: number): void {
    this.waiting = whom
    this.dueAt = Math.min(dueAt, this.#totalDueAt)
    this.#context.wheel.arm(this)
  }

  /** Moves the deadline later after progress. */
  touch(ms: number): void {
    this.dueAt = Math.min(performance.now() + ms, this.#totalDueAt)
  }

  /** The same after bytes of the request body, at the pace that its client must keep. */
  touchBody(bytes: number): void {
    const { minBodyRate, bodyIdleMs } = this.#x.pace
    this.dueAt = Math.min(paceDeadline(this.dueAt, bytes, minBodyRate, bodyIdleMs), this.#totalDueAt)
  }

  onDeadline(): void {
    this.#owner.onOverdue(this.waiting, performance.now() >= this.#totalDueAt)
  }

  stop(): void {
    this.#context.wheel.disarm(this)
  }
}
