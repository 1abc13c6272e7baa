import type { Catalog } from '@sluice/core'
import { formatPath, isMapping } from '../diagnostic/document-path.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { replaceMarked } from '../secrets/mask.js'

/** A server that a policy sends requests to. */
export interface PolicyDestination {
  /** Location of the policy, such as `routes[0].policies[1]`. */
  readonly at: string
  /** URL as written; it may contain references and placeholders. */
  readonly url: string
}

/**
 * Returns the servers that policies call directly, such as identity providers. Their schemas mark them as
 * `destination`.
 * @param root the document as read, which may be invalid
 */
export function policyDestinations(root: unknown, catalog: Catalog): readonly PolicyDestination[] {
  const found: PolicyDestination[] = []
  for (const { path, use, with: parameters } of writtenPolicies(root)) {
    const schema = catalog.get(use)?.schema
    if (schema === undefined || !isMapping(parameters)) continue
    const at = formatPath(path)
    const replace = (url: unknown): unknown => {
      if (typeof url === 'string') found.push({ at, url })
      return url
    }
    replaceMarked(schema, parameters, { keyword: 'destination', replace })
  }
  return found
}
