import { performance } from 'node:perf_hooks'
import type { Exchange, Phase } from '@sluice/core'
import type { Deadline } from '../lib/timer-wheel.js'
import type { PipelineContext } from './context.js'
import { paceDeadline } from './pace.js'

/** The party that an exchange is waiting for. It decides the meaning of a missed deadline. */
export type Waiting =
  | 'none'
  | 'policy'
  | 'filter'
  | 'request-body'
  | 'connection'
  | 'response'
  | 'response-body'
  | 'client'

/** Receiver of missed deadlines. */
export interface TimerOwner {
  /** @param isTotal true if the limit for the whole exchange was missed. */
  onOverdue(waiting: Waiting, isTotal: boolean): void
}

/** Deadlines and phase times of one exchange. */
export class ExchangeTimer implements Deadline {
  waiting: Waiting = 'none'
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #x: Exchange
  readonly #context: PipelineContext
  readonly #owner: TimerOwner
  /** True if the phase times are used. */
  readonly #isTimed: boolean
  #totalDueAt = Number.POSITIVE_INFINITY

  constructor(x: Exchange, isTimed: boolean, context: PipelineContext, owner: TimerOwner) {
    this.#x = x
    this.#isTimed = isTimed
    this.#context = context
    this.#owner = owner
  }

  /** Sets the limit for the whole exchange, which caps every deadline; 0 for no limit. */
  limitTotal(totalMs: number): void {
    if (totalMs !== 0) this.#totalDueAt = this.#x.startedMono + totalMs
  }

  /** Milliseconds left until the limit for the whole exchange. */
  get leftMs(): number {
    return this.#totalDueAt - performance.now()
  }

  /** Sets the deadline for the party that the exchange now waits for. */
  waitFor(party: Waiting, ms: number): void {
    this.#arm(party, this.#context.clock.now() + ms)
  }

  /** Returns the present time. Exchanges without phase times share the reading of their batch. */
  readClock(): number {
    return this.#isTimed ? performance.now() : this.#context.clock.now()
  }

  /** Enters a phase and sets a deadline with a single reading of the clock. */
  waitIn(phase: Phase, party: Waiting, ms: number): void {
    const nowMono = this.readClock()
    this.#x.times.enter(phase, nowMono)
    this.#arm(party, nowMono + ms)
  }

  /** Enters a phase. The clock is read only if the phase times are used. */
  enter(phase: Phase): void {
    if (this.#isTimed) this.#x.times.enter(phase, performance.now())
    else this.#x.times.phase = phase
  }

  #arm(party: Waiting, dueAt: number): void {
    this.waiting = party
    this.dueAt = Math.min(dueAt, this.#totalDueAt)
    this.#context.wheel.arm(this)
  }

  /** Moves the deadline later after progress. */
  touch(ms: number): void {
    this.dueAt = Math.min(performance.now() + ms, this.#totalDueAt)
  }

  /** Moves the deadline later after bytes of the request body, at the client's minimum rate. */
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
