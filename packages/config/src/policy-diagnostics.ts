import type { Diagnostic } from './diagnostic.js'
import type { DocumentSource } from './document-file.js'
import { type DocumentPath, formatPath, isMapping, listAt } from './document-path.js'
import { policyIdOf } from './policy-id.js'
import { Report } from './report.js'
import type { PolicyDocument } from './schema/document.js'
import { readYaml } from './source/yaml-source.js'

/** What is wrong with a policy of a route. */
export interface PolicyMistake {
  readonly route: string
  readonly policy: string
  readonly message: string
}

/** Mistakes in policies at the places where those are written; one in a shared policy is told once. */
export function policyDiagnostics(
  source: DocumentSource,
  mistakes: readonly PolicyMistake[],
): readonly Diagnostic[] {
  const yaml = readYaml(source.text)
  const report = new Report(yaml, source.name, {})
  const told = new Set<string>()
  for (const { route, policy, message } of mistakes) {
    const path = policyPath(yaml.value, route, policy)
    const mistake = `${formatPath(path)} ${message}`
    if (told.has(mistake)) continue
    told.add(mistake)
    report.add({ path, message, remedy: 'correct its parameters' })
  }
  return report.diagnostics()
}

/** Where a policy is written: in its route, or among the shared ones. */
function policyPath(root: unknown, routeId: string, policyId: string): DocumentPath {
  const route = listAt(root, ['routes']).findIndex((entry) => isMapping(entry) && entry['id'] === routeId)
  for (const path of [['routes', route, 'policies'], ['policies']]) {
    const place = listAt(root, path).findIndex(
      (entry, i) =>
        isMapping(entry) && policyIdOf(entry as unknown as PolicyDocument, routeId, i) === policyId,
    )
    if (place >= 0) return [...path, place]
  }
  return []
}
