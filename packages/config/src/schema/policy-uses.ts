import { type DocumentPath, isMapping, listAt, valueAt } from '../diagnostic/document-path.js'

/** An inline or shared policy in a document that may be invalid. */
interface WrittenPolicy {
  readonly path: DocumentPath
  readonly use: string
  readonly with: unknown
}

/** Returns all policies of a document, shared ones first. */
export function writtenPolicies(root: unknown): readonly WrittenPolicy[] {
  return chainPaths(root).flatMap((path) => policiesAt(root, path))
}

/** Returns the paths of all lists of policies: the shared ones, each group, each route. */
export function chainPaths(root: unknown): readonly DocumentPath[] {
  const groups = valueAt(root, ['policyGroups'])
  return [
    ['policies'],
    ...Object.keys(isMapping(groups) ? groups : {}).map((name) => ['policyGroups', name]),
    ...listAt(root, ['routes']).map((_, i) => ['routes', i, 'policies']),
  ]
}

function policiesAt(root: unknown, path: DocumentPath): WrittenPolicy[] {
  return listAt(root, path).flatMap((entry, i) => {
    if (!isMapping(entry) || typeof entry['use'] !== 'string') return []
    return [{ path: [...path, i], use: entry['use'], with: entry['with'] }]
  })
}
