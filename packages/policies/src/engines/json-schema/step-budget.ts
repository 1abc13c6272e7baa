/**
 * Most references that are followed for one value. Choices that refer to themselves double the work with each level of
 * a document, so that a short one could hold a worker for hours.
 */
const MAX_STEPS = 1_000_000

let steps = 0

/** Counts one reference that is followed, and agrees. @throws RangeError when there are too many. */
export function countStep(): true {
  if (++steps > MAX_STEPS) throw new RangeError('too many references are followed')
  return true
}

/**
 * Runs a check with a new step budget. `endless`: too many steps or too deep. `failed`: the check threw. A value
 * that cannot be checked must not pass even if failures of the policy are ignored.
 */
export function withinBudget<T>(check: () => T): T | 'endless' | 'failed' {
  steps = 0
  try {
    return check()
  } catch (error) {
    return error instanceof RangeError ? 'endless' : 'failed'
  }
}
