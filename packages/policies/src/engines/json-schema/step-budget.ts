/**
 * Maximum number of references that are followed for one value. Recursive branches double the work with each level of
 * a document, so a short document could occupy a worker for hours.
 */
const MAX_STEPS = 1_000_000

let steps = 0

/** Counts one followed reference and returns true. @throws RangeError if the budget is exhausted. */
export function countStep(): true {
  if (++steps > MAX_STEPS) throw new RangeError('too many references were followed')
  return true
}

/**
 * Runs a check with a new step budget. Returns `endless` for too many steps or too deep nesting, and `failed` if the
 * check threw. A value that cannot be checked must not pass, even if failures of the policy are ignored.
 */
export function withinBudget<T>(check: () => T): T | 'endless' | 'failed' {
  steps = 0
  try {
    return check()
  } catch (error) {
    return error instanceof RangeError ? 'endless' : 'failed'
  }
}
