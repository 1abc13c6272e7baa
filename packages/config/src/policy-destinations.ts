import type { Catalog } from '@sluice/core'
import { formatPath, isMapping } from './document-path.js'
import { replaceMarked } from './mask.js'
import { writtenPolicies } from './policy-uses.js'

/** A server that a policy asks. */
export interface PolicyDestination {
  /** The policy, such as `routes[0].policies[1]`. */
  readonly at: string
  /** As it is written; it may hold references and placeholders. */
  readonly url: string
}

/**
 * The servers that policies ask themselves, such as those that issue keys: what their schemas mark as a `destination`.
 * @param root the document as it was read; it may hold mistakes.
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
