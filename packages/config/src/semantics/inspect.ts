import { UNAVAILABLE, type Unavailable } from '../availability.js'
import { type DocumentPath, isMapping } from '../document-path.js'
import { checkBodyPaths } from './body-path-check.js'
import { checkClientCertificates } from './client-certificate-check.js'
import { checkConflicts } from './conflict-check.js'
import { checkConsumers } from './consumer-check.js'
import type { Inspection } from './inspection.js'
import { checkKubernetes } from './kubernetes-check.js'
import { checkListeners } from './listener-check.js'
import { checkLog } from './log-check.js'
import { checkLogPrivacy } from './log-privacy-check.js'
import { checkOwnPaths } from './own-path-check.js'
import { checkPlugins } from './plugin-check.js'
import { checkPolicies, checkUnused } from './policy-check.js'
import { checkRoutes } from './route-check.js'
import { checkShadows } from './shadow-check.js'
import { checkState } from './state-check.js'
import { checkUpstreams } from './upstream-check.js'

/** Checks what no schema can: how the parts of a document fit together. Warnings only when there is no error. */
export function inspect(inspection: Inspection): void {
  checkAvailability(inspection)
  checkListeners(inspection)
  checkUpstreams(inspection)
  checkPlugins(inspection)
  checkPolicies(inspection)
  checkConsumers(inspection)
  checkClientCertificates(inspection)
  checkBodyPaths(inspection)
  checkRoutes(inspection)
  checkConflicts(inspection)
  checkLog(inspection)
  checkLogPrivacy(inspection)
  checkState(inspection)
  checkKubernetes(inspection)
  if (inspection.report.hasErrors) return
  checkUnused(inspection)
  checkShadows(inspection)
  checkOwnPaths(inspection)
}

/** Names everything that stands in the document and does not run yet. */
export function checkAvailability({ whole, report }: Inspection): void {
  for (const row of UNAVAILABLE) {
    for (const path of foundAt(whole, row, [])) {
      const references = row.values === undefined ? null : report.referencesAt(path)
      const what = references === null ? row.what : `the value of ${references}`
      const at = row.values === undefined ? 'key' : 'value'
      report.add({ path, at, message: `${what} is not available yet`, remedy: row.remedy })
    }
  }
}

function foundAt(value: unknown, row: Unavailable, path: DocumentPath): DocumentPath[] {
  const part = row.path[path.length]
  if (part === undefined) {
    return isMeant(value, row.values) ? [path] : []
  }
  return childrenOf(value, part).flatMap(([key, child]) => foundAt(child, row, [...path, key]))
}

function isMeant(value: unknown, values: Unavailable['values']): boolean {
  if (values !== undefined) return typeof value === 'string' && values.includes(value)
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

function childrenOf(value: unknown, part: string): [string | number, unknown][] {
  if (Array.isArray(value)) return part === '*' ? [...value.entries()] : []
  if (!isMapping(value)) return []
  if (part === '*') return Object.entries(value)
  return Object.hasOwn(value, part) ? [[part, value[part]]] : []
}
