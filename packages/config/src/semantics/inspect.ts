import { checkAvailability } from './availability-check.js'
import { checkBodyPaths } from './body-path-check.js'
import { checkConflicts } from './conflict-check.js'
import type { Inspection } from './inspection.js'
import { checkListeners } from './listener-check.js'
import { checkLog } from './log-check.js'
import { checkLogPrivacy } from './log-privacy-check.js'
import { checkPolicies } from './policy-check.js'
import { checkRoutes } from './route-check.js'
import { checkShadows } from './shadow-check.js'
import { checkUnused } from './unused-check.js'
import { checkUpstreams } from './upstream-check.js'

/** Checks what no schema can: how the parts of a document fit together. Warnings only when there is no error. */
export function inspect(inspection: Inspection): void {
  checkAvailability(inspection)
  checkListeners(inspection)
  checkUpstreams(inspection)
  checkPolicies(inspection)
  checkBodyPaths(inspection)
  checkRoutes(inspection)
  checkConflicts(inspection)
  checkLog(inspection)
  checkLogPrivacy(inspection)
  if (inspection.report.hasErrors) return
  checkUnused(inspection)
  checkShadows(inspection)
}
