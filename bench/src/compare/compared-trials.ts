import type { Summary } from '../model/summary.js'
import type { Trial } from '../model/trial.js'
import { type TrialVerdict, verdictOf, verdictText } from '../report/trial-verdict.js'

/** The same trial in two runs. */
export interface ComparedTrial {
  readonly name: string
  readonly before: TrialVerdict
  readonly after: TrialVerdict
  /** The later verdict with its reasons. */
  readonly text: string
}

/** Trials of two runs by their ids; those that one side only has are named. Of those passed and not done again, the number. */
export function comparedTrials(
  before: Summary,
  after: Summary,
): { trials: ComparedTrial[]; onlyBefore: string[]; onlyAfter: string[]; missing: number } {
  const [old, fresh] = [before.trials ?? [], after.trials ?? []]
  const nameOf = ({ id }: Trial): string => `${after.suite} ${id}`
  const hasNot = (trials: readonly Trial[], { id }: Trial): boolean => trials.every((each) => each.id !== id)
  const gone = old.filter((trial) => hasNot(fresh, trial))
  return {
    trials: fresh.flatMap((trial) => {
      const match = old.find(({ id }) => id === trial.id)
      if (match === undefined) return []
      const verdicts = { before: verdictOf(match), after: verdictOf(trial) }
      return [{ name: nameOf(trial), ...verdicts, text: verdictText(trial) }]
    }),
    onlyBefore: gone.map(nameOf),
    missing: gone.filter((trial) => verdictOf(trial) === 'passed').length,
    onlyAfter: fresh.filter((trial) => hasNot(old, trial)).map(nameOf),
  }
}

/** Whether a trial was passed and is not any more. */
export function isWorse({ before, after }: ComparedTrial): boolean {
  return before === 'passed' && after !== 'passed'
}
