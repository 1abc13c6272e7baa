import { isAbsolute } from 'node:path'
import type { Catalog } from '@sluice/core'
import { isMapping } from './document-path.js'
import { replaceMarked } from './mask.js'
import { writtenPolicies } from './policy-uses.js'
import { isTemplate } from './reference/text-template.js'
import { documentSchema } from './schema/document.js'

/**
 * The relative paths under which a document names files and folders, each once and in its order; they begin in its folder.
 * Those of `${file:PATH}` are not among them, nor are paths that hold references.
 * @param root the document as it was read; it may hold mistakes.
 */
export function relativePathsOf(root: unknown, catalog: Catalog): readonly string[] {
  const found = new Set<string>()
  const replace = (path: unknown): unknown => {
    if (typeof path === 'string' && !isAbsolute(path) && !isTemplate(path)) found.add(path)
    return path
  }
  replaceMarked(documentSchema, root, { keyword: 'path', replace })
  for (const policy of writtenPolicies(root)) {
    const schema = catalog.get(policy.use)?.schema
    if (schema !== undefined && isMapping(policy.with))
      replaceMarked(schema, policy.with, { keyword: 'path', replace })
  }
  return [...found]
}
