import type { Trial, TrialPhase } from '../model/trial.js'
import type { TrialTimes } from './times.js'

/** A load that is less than this share of what it is to be is another one than the trial says. */
const HELD_SHARE = 0.9

/** What validity is judged by. */
export interface TrialCourse extends Pick<Trial, 'phases' | 'targetPerSecond'> {
  readonly times: TrialTimes
  /** Whether the load ended before its time. */
  readonly isCutShort: boolean
}

/** Why a trial is no result, whatever it saw; empty: it is one. */
export function invalidityOf({ phases, targetPerSecond, times, isCutShort }: TrialCourse): string[] {
  if (isCutShort) {
    const lasted = phases.reduce((sum, { seconds }) => sum + seconds, 0)
    const planned = times.beforeSeconds + times.duringSeconds + times.afterSeconds
    return [`it was stopped after ${Math.floor(lasted)} of ${Math.round(planned)} s`]
  }
  return phases.flatMap((phase) => {
    const perSecond = sentOf(phase) / phase.seconds
    if (perSecond >= targetPerSecond * HELD_SHARE) return []
    return [`only ${Math.round(perSecond)} of ${targetPerSecond} requests/s were sent ${phase.name} it`]
  })
}

function sentOf({ sent, requests }: TrialPhase): number {
  return sent ?? requests
}
