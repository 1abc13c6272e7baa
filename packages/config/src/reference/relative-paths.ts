import { isAbsolute } from 'node:path'
import type { Catalog } from '@sluice/core'
import { isMapping, valueAt } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { documentSchema } from '../schema/document.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { replaceMarked } from '../secrets/mask.js'
import { FOLDER } from '../template/folder.js'
import { parseTemplate } from '../template/text-template.js'
import type { ReferenceValues } from './reference-values.js'

/**
 * Anchors the relative paths of a document in its folder: `cert.pem` becomes `${folder}/cert.pem`. The plan
 * keeps this placeholder, so that it does not depend on the location of the document.
 */
export function anchorPaths(document: unknown, catalog: Catalog, values: ReferenceValues): unknown {
  const replace = (path: unknown): unknown => (isRelative(path, values) ? `${FOLDER}/${path}` : path)
  const anchored = replaceMarked(documentSchema, document, { keyword: 'path', replace })
  for (const { path, use } of writtenPolicies(anchored)) {
    const schema = catalog.get(use)?.schema
    const policy = valueAt(anchored, path)
    if (schema === undefined || !isMapping(policy) || policy['with'] === undefined) continue
    policy['with'] = replaceMarked(schema, policy['with'], { keyword: 'path', replace })
  }
  return anchored
}

/** True for a relative path. If it starts with a reference, the value of the reference decides. */
function isRelative(path: unknown, values: ReferenceValues): path is string {
  if (typeof path !== 'string') return false
  const template = parseTemplate(path)
  if (isIssue(template)) return false
  const [start = ''] = template
  const text = typeof start === 'string' ? start : values.of(start)
  return typeof text === 'string' && !isAbsolute(text)
}
