import { isAbsolute } from 'node:path'
import type { Catalog } from '@sluice/core'
import { isMapping } from '../diagnostic/document-path.js'
import { documentSchema } from '../schema/document.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { replaceMarked } from '../secrets/mask.js'
import { isTemplate } from '../template/text-template.js'

/**
 * Returns the distinct relative paths of files and folders in a document, in document order. They are
 * relative to its folder. Excludes `${file:PATH}` and paths that contain references.
 * @param root the document as read, which may be invalid
 */
export function relativePathsOf(root: unknown, catalog: Catalog): readonly string[] {
  return writtenPathsOf(root, catalog).filter((path) => !isAbsolute(path) && !isTemplate(path))
}

/** Returns the distinct paths of files and folders in a document as written. Excludes `${file:PATH}`. */
export function writtenPathsOf(root: unknown, catalog: Catalog): readonly string[] {
  const found = new Set<string>()
  const replace = (path: unknown): unknown => {
    if (typeof path === 'string') found.add(path)
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
