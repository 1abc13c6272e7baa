import type { Catalog } from '@sluice/core'
import type { Diagnostic } from './diagnostic.js'
import type { DocumentSource } from './document-file.js'
import { type DocumentPath, formatPath, isMapping, listAt } from './document-path.js'
import { policyFilePosition } from './policy-file-position.js'
import { policyIdOf } from './policy-id.js'
import { Report } from './report.js'
import type { PolicyDocument } from './schema/document.js'
import { readYaml } from './source/yaml-source.js'

/** What is wrong with a policy of a route. */
export interface PolicyMistake {
  readonly route: string
  readonly policy: string
  readonly message: string
  /** The name of the policy in the catalog. */
  readonly use: string
  /** Its parameters with the values of references and absolute paths; they are not shown. */
  readonly config: unknown
}

/**
 * Mistakes in policies at the locations where those are written, or in the files that they name; one in a shared policy is
 * reported once.
 */
export function policyDiagnostics(
  source: DocumentSource,
  mistakes: readonly PolicyMistake[],
  catalog: Catalog,
): readonly Diagnostic[] {
  const yaml = readYaml(source.text)
  const report = new Report(yaml, source.name, {})
  const reported = new Set<string>()
  const inFiles: Diagnostic[] = []
  for (const { route, policy, message, use, config } of mistakes) {
    const path = policyPath(yaml.value, route, policy)
    const mistake = `${formatPath(path)} ${message}`
    if (reported.has(mistake)) continue
    reported.add(mistake)
    const schema = catalog.get(use)?.schema
    const location =
      schema === undefined ? null : policyFilePosition(message, { schema, config }, source.name)
    if (location === null) report.add({ path, message, remedy: 'correct its parameters' })
    else
      inFiles.push({
        severity: 'error',
        ...location,
        path: formatPath(path),
        message,
        remedy: 'correct the file',
      })
  }
  return [...report.diagnostics(), ...inFiles]
}

/** A mistake at a location of the document that only shows when what the document names is tried. */
export interface DocumentMistake {
  /** Where in the document, such as `['log', 'custom', 'module']`. */
  readonly path: DocumentPath
  readonly message: string
  readonly remedy: string
}

/** Mistakes at their locations in the text of the document. */
export function documentDiagnostics(
  source: DocumentSource,
  mistakes: readonly DocumentMistake[],
): readonly Diagnostic[] {
  const report = new Report(readYaml(source.text), source.name, {})
  for (const mistake of mistakes) report.add(mistake)
  return report.diagnostics()
}

/** Where a policy is written: in its route, in a group of that, or among the shared ones. */
function policyPath(root: unknown, routeId: string, policyId: string): DocumentPath {
  const route = listAt(root, ['routes']).findIndex((entry) => isMapping(entry) && entry['id'] === routeId)
  const own: DocumentPath = ['routes', route, 'policies']
  const named = listAt(root, own).filter((entry) => typeof entry === 'string')
  for (const path of [own, ...named.map((name) => ['policyGroups', name]), ['policies']]) {
    const owner = path === own ? routeId : String(path.at(-1))
    const location = listAt(root, path).findIndex(
      (entry, i) => isMapping(entry) && policyIdOf(entry as unknown as PolicyDocument, owner, i) === policyId,
    )
    if (location >= 0) return [...path, location]
  }
  return []
}
