import { checkBodyPaths } from './body-path-check.js'
import { checkCacheServer } from './cache-check.js'
import { checkCertificateDates } from './certificate-check.js'
import { checkClientCertificates } from './client-certificate-check.js'
import { checkConflicts } from './conflict-check.js'
import { checkConsumers } from './consumer-check.js'
import { checkFieldBytes } from './field-bytes-check.js'
import { checkKubeconfig } from './file-check.js'
import type { Inspection } from './inspection.js'
import { checkTlsFiles } from './key-pair-check.js'
import { checkListeners } from './listener-check.js'
import { checkLog } from './log-check.js'
import { checkLogPrivacy } from './log-privacy-check.js'
import { checkOwnPaths } from './own-path-check.js'
import { checkParameters, checkPolicies, checkUnused } from './policy-check.js'
import { checkRedirectLoops } from './redirect-loop-check.js'
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
  checkControl(inspection)
  if (inspection.report.hasErrors) return
  checkUnused(all)
  checkParameters(inspection)
  checkShadows(all)
  checkOwnPaths(all)
  checkRedirectLoops(all)
  checkFieldBytes(all)
  checkCertificateDates(inspection)
}

function checkKubernetes(inspection: Inspection): void {
  const file = inspection.document.kubernetes?.kubeconfig
  if (file !== undefined) checkKubeconfig(inspection, file, ['kubernetes', 'kubeconfig'])
}

function checkControl(inspection: Inspection): void {
  const { control } = inspection.document
  const path = ['control', 'tls']
  if (control === undefined || !inspection.report.isValid(path)) return
  const { certFile, keyFile } = control.tls
  checkTlsFiles(inspection, control.tls, path)
  if ((certFile === undefined) === (keyFile === undefined)) return
  inspection.report.add({
    path,
    at: 'key',
    message: 'a client certificate needs certFile and keyFile',
    remedy: `add ${certFile === undefined ? 'certFile' : 'keyFile'}`,
  })
}

/** Checks plugins: unusable or duplicate ones. */
function checkPlugins({ document, origins, plugins, report }: Inspection): void {
  const seen = new Set<string>()
  for (const [name, path] of origins.entries(document.plugins, ['plugins'])) {
    const found = plugins.get(name)
    if (report.referencesAt(path) !== null) {
      report.add({
        path,
        message: 'the name of a plugin cannot contain a reference',
        remedy: 'write the literal name',
      })
    } else if (seen.has(name)) {
      report.add({ path, message: `the plugin '${name}' is listed twice`, remedy: 'remove one' })
    } else if (found === undefined) {
      const message = `the plugin '${name}' was not checked`
      report.add({
        path,
        message,
        remedy: 'validate the document on the machine of the gateway',
        ofMachine: true,
      })
    } else if ('message' in found) report.add({ path, ...found })
    seen.add(name)
  }
}
