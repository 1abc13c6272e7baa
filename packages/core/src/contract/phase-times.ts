import { PHASE, type Phase } from './phase.js'

/** Shared value of all exchanges whose times are not recorded. */
const NO_TIMES: number[] = []

/** Current phase of an exchange and the time spent in each phase. */
export class PhaseTimes {
  phase: Phase = PHASE.route
  /** Monotonic start time of the current phase in milliseconds. */
  sinceMono = 0
  /** Time spent in each phase in milliseconds, indexed by phase number. Empty unless `keep` was called. */
  ms: number[] = NO_TIMES

  /** Starts recording the time spent in each phase. */
  keep(): void {
    this.ms = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  }

  /** Switches to another phase. A phase can be entered more than once. */
  enter(phase: Phase, nowMono: number): void {
    if (this.ms !== NO_TIMES) this.ms[this.phase]! += nowMono - this.sinceMono
    this.phase = phase
    this.sinceMono = nowMono
  }

  /** Moves part of the time in the current phase to another phase. */
  attribute(phase: Phase, ms: number): void {
    if (this.ms === NO_TIMES) return
    this.ms[phase]! += ms
    this.sinceMono += ms
  }
}
