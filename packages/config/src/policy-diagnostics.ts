import type { Diagnostic } from './diagnostic.js'
import type { DocumentSource } from './document-file.js'
import { type DocumentPath, isMapping, valueAt } from './document-path.js'
import { policyIdOf } from './policy-id.js'
import { Report } from './report.js'
import type { PolicyDocument } from './schema/document.js'
import { readYaml } from './source/yaml-source.js'

/**
 * What is wrong with policies that do not compile, at the places where they are written.
 * @param mistakes what is wrong, by the policy's id.
 */
export function policyDiagnostics(
  source: DocumentSource,
  mistakes: ReadonlyMap<string, string>,
): readonly Diagnostic[] {
  const yaml = readYaml(source.text)
  const report = new Report(yaml, source.name, {})
  const places = policyPlaces(yaml.value)
  for (const [id, message] of mistakes) {
    const path = places.get(id) ?? []
    report.add({ path, message: `policy '${id}': ${message}`, remedy: 'correct its parameters' })
  }
  return report.diagnostics()
}

function policyPlaces(root: unknown): ReadonlyMap<string, DocumentPath> {
  const places = new Map<string, DocumentPath>()
  const add = (path: DocumentPath, routeId: string): void => {
    const list = valueAt(root, path)
    if (!Array.isArray(list)) return
    for (const [i, entry] of list.entries()) {
      if (isMapping(entry))
        places.set(policyIdOf(entry as unknown as PolicyDocument, routeId, i), [...path, i])
    }
  }
  add(['policies'], '')
  const routes = valueAt(root, ['routes'])
  if (!Array.isArray(routes)) return places
  for (const [i, route] of routes.entries()) {
    if (isMapping(route)) add(['routes', i, 'policies'], String(route['id']))
  }
  return places
}
