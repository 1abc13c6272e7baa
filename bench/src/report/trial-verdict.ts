import type { Trial } from '../model/trial.js'

/** What a trial says: nothing, where its load or its time was not the one that it speaks of, and nothing was seen to be lost. */
export type TrialVerdict = 'passed' | 'failed' | 'no result'

/** What is lost is lost, whatever the load was. */
export function verdictOf({ failures, invalid = [] }: Trial): TrialVerdict {
  if (failures.length > 0) return 'failed'
  return invalid.length > 0 ? 'no result' : 'passed'
}

/** Why it was not passed; empty: it was. */
export function reasonsOf({ failures, invalid = [] }: Trial): readonly string[] {
  return failures.length > 0 ? failures : invalid
}

/** For people, with its reasons. */
export function verdictText(trial: Trial): string {
  const verdict = verdictOf(trial)
  if (verdict === 'passed') return verdict
  return `${verdict === 'failed' ? 'FAILED' : verdict}: ${reasonsOf(trial).join('; ')}`
}

/** How many of the trials have a verdict. */
export function countVerdicts(trials: readonly Trial[], verdict: TrialVerdict): number {
  return trials.filter((trial) => verdictOf(trial) === verdict).length
}
