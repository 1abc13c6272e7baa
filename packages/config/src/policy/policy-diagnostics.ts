import type { Catalog } from '@sluice/core'
import type { Diagnostic } from '../diagnostic/diagnostic.js'
import { type DocumentPath, formatPath, isMapping, listAt } from '../diagnostic/document-path.js'
import type { DocumentSource } from '../file/document-file.js'
import { readDocument } from '../read/read-document.js'
import { Report } from '../report/report.js'
import type { PolicyDocument } from '../schema/document.js'
import { policyIdOf } from '../schema/policy-id.js'
import { parameterPath } from './parameter-path.js'
import { policyFilePosition, withoutPosition } from './policy-file-position.js'

/** A problem with a policy of a route. */
export interface PolicyMistake {
  readonly route: string
  readonly policy: string
  readonly message: string
  /** Name of the policy in the catalog. */
  readonly use: string
  /** Parameters of the policy with references resolved and absolute paths. Never shown. */
  readonly config: unknown
}

/**
 * Returns diagnostics for problems with policies, at the location of the policy or in the file that it names.
 * A problem with a shared policy is reported once.
 */
export function policyDiagnostics(
  source: DocumentSource,
  mistakes: readonly PolicyMistake[],
  catalog: Catalog,
): readonly Diagnostic[] {
  // Reading the text again only for positions takes a third of the time of a large document.
  if (mistakes.length === 0) return []
  const document = readDocument(source.text, catalog)
  const report = new Report(document, source.name, {})
  const reported = new Set<string>()
  const inFiles: Diagnostic[] = []
  for (const { route, policy, message, use, config } of mistakes) {
    const path = policyPath(document.value, route, policy)
    const mistake = `${formatPath(path)} ${message}`
    if (reported.has(mistake)) continue
    reported.add(mistake)
    const schema = catalog.get(use)?.schema
    const location =
      schema === undefined ? null : policyFilePosition(message, { schema, config }, source.name)
    if (location === null)
      report.add({
        path: parameterPath(document.value, path, { message, config }),
        message,
        remedy: `gw policy doc ${use} lists the parameters`,
      })
    else inFiles.push({ severity: 'error', ...location, path: formatPath(path), ...withoutPosition(message) })
  }
  return [...report.diagnostics(), ...inFiles]
}

/** A problem at a location of the document that only shows when the document is used. */
export interface DocumentMistake {
  /** Path in the document, such as `['log', 'custom', 'module']`. */
  readonly path: DocumentPath
  readonly message: string
  readonly remedy: string
}

/** Returns diagnostics for problems at their locations in the text. */
export function documentDiagnostics(
  source: DocumentSource,
  mistakes: readonly DocumentMistake[],
): readonly Diagnostic[] {
  if (mistakes.length === 0) return []
  const report = new Report(readDocument(source.text, new Map()), source.name, {})
  for (const mistake of mistakes) report.add(mistake)
  return report.diagnostics()
}

/** Returns the path of a policy: in its route, in a group of the route, or among the shared policies. */
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
