import { type DocumentPath, isMapping, listAt } from './document-path.js'

/** A policy as it is written out in a document that may hold mistakes. */
interface WrittenPolicy {
  readonly path: DocumentPath
  readonly use: string
  readonly with: unknown
}

/** Every policy that is written out, shared ones first. */
export function writtenPolicies(root: unknown): readonly WrittenPolicy[] {
  const routes = listAt(root, ['routes'])
  return [
    ...policiesAt(root, ['policies']),
    ...routes.flatMap((_, i) => policiesAt(root, ['routes', i, 'policies'])),
  ]
}

function policiesAt(root: unknown, path: DocumentPath): WrittenPolicy[] {
  return listAt(root, path).flatMap((entry, i) => {
    if (!isMapping(entry) || typeof entry['use'] !== 'string') return []
    return [{ path: [...path, i], use: entry['use'], with: entry['with'] }]
  })
}
