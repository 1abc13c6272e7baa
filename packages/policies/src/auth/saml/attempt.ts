import { type AssertionRules, readAssertion } from './assertion.js'
import type { VerificationResult } from './assertion-work.js'
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
): VerificationResult {
  try {
    return { assertion: readAssertion(bytes, place, rules, nowMs) }
  } catch (problem) {
    if (!(problem instanceof RefusedAssertion)) throw problem
    return { issue: problem.issue, reason: problem.message }
  }
}
