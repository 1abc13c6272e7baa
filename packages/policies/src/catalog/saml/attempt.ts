import { type AssertionRules, readAssertion } from './assertion.js'
import type { Read } from './assertion-work.js'
import { RefusedAssertion } from './refused-assertion.js'
import type { AssertionPlace } from './signed-assertion.js'

/**
 * Runs `readAssertion` and returns the result as a value that can be cloned.
 * @throws UnreadableBody only on overload.
 */
export function attemptAssertion(
  bytes: Uint8Array,
  place: AssertionPlace,
  rules: AssertionRules,
  nowMs: number,
): Read {
  try {
    return { assertion: readAssertion(bytes, place, rules, nowMs) }
  } catch (problem) {
    if (!(problem instanceof RefusedAssertion)) throw problem
    return { flaw: problem.flaw, reason: problem.message }
  }
}
