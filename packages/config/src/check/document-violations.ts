import type { Catalog } from '@sluice/core'
import { formatPath, isMapping } from '../diagnostic/document-path.js'
import { closestWord } from '../diagnostic/spelling.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { MAX_MISTAKES, schemaViolationsOf, type Violation, violationsOf } from './violation.js'

/** Returns the violations of the document schema, and of each policy's schema by its configuration. */
export function documentViolations(root: unknown, catalog: Catalog): readonly Violation[] {
  const ofDocument = schemaViolationsOf(root).slice(0, MAX_MISTAKES)
  const ofPolicies = policyViolations(root, root, catalog).slice(0, MAX_MISTAKES)
  return withoutEchoes([...ofDocument, ...ofPolicies])
}

/** Removes the missing keys that are explained by a misspelt key, so that they are not reported twice. */
function withoutEchoes(violations: readonly Violation[]): readonly Violation[] {
  const unknown = new Map<string, string[]>()
  for (const { path, key, keyword } of violations) {
    if (keyword !== 'additionalProperties' || key === null) continue
    const location = formatPath(path)
    const keys = unknown.get(location)
    if (keys === undefined) unknown.set(location, [key])
    else keys.push(key)
  }
  return violations.filter((violation) => {
    const missing = missingKeys(violation)
    const misspelt = missing.length === 0 ? [] : (unknown.get(formatPath(violation.path)) ?? [])
    return !misspelt.some((key) => closestWord(key, missing) !== null)
  })
}

function missingKeys({ keyword, params }: Violation): readonly string[] {
  if (keyword === 'required') return [String(params['missingProperty'])]
  const isNoneOf = keyword === 'choice' && (params['present'] as readonly string[]).length === 0
  return isNoneOf ? (params['keys'] as readonly string[]) : []
}

/**
 * Returns the violations in the configurations of policies only.
 * @param names the document with references resolved, for the names of the policies
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
