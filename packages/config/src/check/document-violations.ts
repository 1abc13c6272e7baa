import type { Catalog } from '@sluice/core'
import { isMapping } from '../document-path.js'
import { writtenPolicies } from '../policy-uses.js'
import { documentSchema } from '../schema/document.js'
import { type Violation, violationsOf } from './violation.js'

/** The mistakes of a document against its own schema, and of each policy's configuration against the policy's. */
export function documentViolations(root: unknown, catalog: Catalog): readonly Violation[] {
  return [...violationsOf(documentSchema, root), ...policyViolations(root, root, catalog)]
}

/**
 * The mistakes of the policies' configurations alone.
 * @param names the document to take the names of the policies from: `root` with its references resolved.
 */
export function policyViolations(root: unknown, names: unknown, catalog: Catalog): readonly Violation[] {
  const written = writtenPolicies(root)
  const named = writtenPolicies(names)
  return written.flatMap((policy, i) => {
    const schema = catalog.get(named[i]?.use ?? '')?.schema
    const config = policy.with ?? {}
    if (schema === undefined || !isMapping(config) || policy.with === null) return []
    return violationsOf(schema, config, [...policy.path, 'with'])
  })
}
