import { isAbsolute } from 'node:path'
import type { Catalog } from '@sluice/core'
import { isMapping, valueAt } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import { replaceMarked } from '../mask.js'
import { writtenPolicies } from '../policy-uses.js'
import { documentSchema } from '../schema/document.js'
import { FOLDER } from './folder.js'
import type { ReferenceValues } from './reference-values.js'
import { parseTemplate } from './text-template.js'

/**
 * Lets the relative paths of a document begin in its folder: `cert.pem` becomes `${folder}/cert.pem`. The plan keeps that
 * reference, so that it is the same wherever the document lies.
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

/** A path that begins with a reference is what that stands for. */
function isRelative(path: unknown, values: ReferenceValues): path is string {
  if (typeof path !== 'string') return false
  const template = parseTemplate(path)
  if (isFlaw(template)) return false
  const [start = ''] = template
  const text = typeof start === 'string' ? start : values.of(start)
  return typeof text === 'string' && !isAbsolute(text)
}
