import { certificateExpiry } from './certificate-expiry.js'
import { costlyPolicyFirst } from './costly-policy-first.js'
import { neverRuns } from './never-runs.js'
import { noLimit } from './no-limit.js'
import { plainHttpTarget } from './plain-http-target.js'
import type { LintRule } from './rule.js'
import { secretInClear } from './secret-in-clear.js'
import { selectionByAddress } from './selection-by-address.js'
import { unprotectedRoute } from './unprotected-route.js'
import { unreachableTarget } from './unreachable-target.js'
import { unverifiedTls } from './unverified-tls.js'
import { VALIDATION_WARNINGS } from './validation-warnings.js'

/** Rule id of the errors of invalid documents. They cannot be disabled. */
export const INVALID = 'invalid'
/** Rule id of warnings that no other rule covers. */
export const OTHER_WARNING = 'validation'

/** The rules of `gw lint`. */
export const LINT_RULES: readonly LintRule[] = [
  unprotectedRoute,
  costlyPolicyFirst,
  neverRuns,
  secretInClear,
  certificateExpiry,
  unverifiedTls,
  plainHttpTarget,
  selectionByAddress,
  noLimit,
  unreachableTarget,
  ...VALIDATION_WARNINGS,
]
