import { PHASE, type Phase } from './phase.js'

/** Of all exchanges whose times nobody wants. */
const NO_TIMES: number[] = []

/** The phase that an exchange is in, and where its time went. */
export class PhaseTimes {
  phase: Phase = PHASE.route
  /** Monotonic clock when the phase began. */
  sinceMono = 0
  /** Time spent in each phase, ms, by its number; empty unless somebody wants to know (`keep`). */
  ms: number[] = NO_TIMES

  /** Notes the time spent in each phase from here on. */
  keep(): void {
    this.ms = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  }

  /** Goes on to another phase, which may be one that it was in before. */
  enter(phase: Phase, nowMono: number): void {
    if (this.ms !== NO_TIMES) this.ms[this.phase]! += nowMono - this.sinceMono
    this.phase = phase
    this.sinceMono = nowMono
  }

  /** Counts so much of the time since the current phase began for another one. */
  attribute(phase: Phase, ms: number): void {
    if (this.ms === NO_TIMES) return
    this.ms[phase]! += ms
    this.sinceMono += ms
  }
}
