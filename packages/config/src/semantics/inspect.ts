import { checkBodyPaths } from './body-path-check.js'
import { checkCacheServer } from './cache-check.js'
import { checkClientCertificates } from './client-certificate-check.js'
import { checkConflicts } from './conflict-check.js'
import { checkConsumers } from './consumer-check.js'
import { checkFieldBytes } from './field-bytes-check.js'
import type { Inspection } from './inspection.js'
import { checkKubernetes } from './kubernetes-check.js'
import { checkListeners } from './listener-check.js'
import { checkLog } from './log-check.js'
import { checkLogPrivacy } from './log-privacy-check.js'
import { checkOwnPaths } from './own-path-check.js'
import { checkPlugins } from './plugin-check.js'
import { checkParameters, checkPolicies, checkUnused } from './policy-check.js'
import { checkRouteIds, checkRoutes } from './route-check.js'
import { checkShadows } from './shadow-check.js'
import { checkState } from './state-check.js'
import { checkUpstreams } from './upstream-check.js'

/**
 * Checks the rules that no schema can express, mostly between parts of a document. Warnings are only given if
 * there are no errors.
 * @param all the document with all its routes, if `inspection` only has the changed ones
 */
export function inspect(inspection: Inspection, all: Inspection = inspection): void {
  checkListeners(inspection)
  checkUpstreams(inspection)
  checkPlugins(inspection)
  checkPolicies(inspection)
  checkConsumers(inspection)
  checkClientCertificates(inspection)
  checkBodyPaths(inspection)
  checkRoutes(inspection)
  checkRouteIds(all)
  checkConflicts(all)
  checkLog(inspection)
  checkLogPrivacy(inspection)
  checkState(inspection)
  checkCacheServer(inspection)
  checkKubernetes(inspection)
  if (inspection.report.hasErrors) return
  checkUnused(all)
  checkParameters(inspection)
  checkShadows(all)
  checkOwnPaths(all)
  checkFieldBytes(all)
}
