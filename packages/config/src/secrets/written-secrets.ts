import type { TSchema } from '@sinclair/typebox'
import type { Catalog } from '@sluice/core'
import { type DocumentPath, formatPath, isMapping } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { documentSchema } from '../schema/document.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { parseTemplate } from '../template/text-template.js'
import { replaceMarked } from './mask.js'

/** Marks a secret during the search. */
const FOUND = Symbol('secret')

/**
 * Returns the paths of literal secrets in a document, such as `policies[0].with.users[0].password`: values
 * that a schema marks as secret and that are not references. Defaults of references count as literals.
 * @param root the document as read, which may be invalid
 */
export function writtenSecretsOf(root: unknown, catalog: Catalog): readonly string[] {
  return writtenSecretPaths(root, catalog).map(formatPath)
}

/** Returns the same paths as `writtenSecretsOf`, unformatted. */
export function writtenSecretPaths(root: unknown, catalog: Catalog): readonly DocumentPath[] {
  const found = secretsIn(documentSchema, root, [])
  for (const { path, use, with: parameters } of writtenPolicies(root)) {
    const schema = catalog.get(use)?.schema
    if (schema !== undefined) found.push(...secretsIn(schema, parameters, [...path, 'with']))
  }
  return found
}

function secretsIn(schema: TSchema, value: unknown, path: DocumentPath): DocumentPath[] {
  const replace = (secret: unknown): unknown => (isWritten(secret) ? FOUND : secret)
  return foundIn(replaceMarked(schema, value, { keyword: 'secret', replace }), path)
}

function foundIn(value: unknown, path: DocumentPath): DocumentPath[] {
  if (value === FOUND) return [path]
  if (Array.isArray(value)) return value.flatMap((item, i) => foundIn(item, [...path, i]))
  if (!isMapping(value)) return []
  return Object.entries(value).flatMap(([key, item]) => foundIn(item, [...path, key]))
}

function isWritten(secret: unknown): boolean {
  if (typeof secret !== 'string') return secret !== null && secret !== undefined
  const template = parseTemplate(secret)
  return isIssue(template) || template.some((part) => typeof part === 'string' || part.fallback !== null)
}
