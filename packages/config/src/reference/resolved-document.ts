import type { TSchema } from '@sinclair/typebox'
import type { Catalog } from '@sluice/core'
import { policyViolations } from '../check/document-violations.js'
import { schemaViolationsOf, type Violation } from '../check/violation.js'
import { type DocumentPath, formatPath, isMapping, valueAt } from '../diagnostic/document-path.js'
import type { Report } from '../report/report.js'
import type { Bounds } from '../schema/build.js'
import { escapeText } from '../template/text-template.js'
import type { ReferencedLeaf, ReferencedLeaves } from './referenced-leaf.js'

/** A document in two forms that differ in their references. */
interface ResolvedDocument {
  /** The document for the plan: references as written, except where the plan needs their values. */
  readonly kept: unknown
  /** The document for checks: every reference is replaced with its value. */
  readonly resolved: unknown
  /** Original strings that are replaced with values in `kept`, by formatted path. */
  readonly inlined: InlinedTexts
}

/** Original strings whose references the plan replaces with values, by formatted path. */
export type InlinedTexts = ReadonlyMap<string, string>

/**
 * Decides for each string with a reference if the plan keeps the reference or contains its value. It keeps
 * references in strings that it only copies, and in the parameters of policies. It contains the value where
 * it interprets the string: numbers, durations, keywords, addresses, names, and the paths and hosts of
 * routes. A plan never contains the value of a secret in Vault: that is reported.
 */
export function resolveReferences(
  root: unknown,
  leaves: ReferencedLeaves,
  { catalog, report }: { readonly catalog: Catalog; readonly report: Report },
): ResolvedDocument {
  const kept = structuredClone(root)
  const inlined = new Map<string, string>()
  if (leaves.size === 0) return { kept, resolved: root, inlined }
  const resolved = structuredClone(root)
  for (const leaf of leaves.values()) put(resolved, leaf.path, leaf.value)
  const ofDocument = refusedSchemas(schemaViolationsOf(root))
  const ofPolicies = refusedSchemas(policyViolations(root, resolved, catalog))
  for (const [key, leaf] of leaves) {
    const asked = ofDocument.get(key)
    const schemas = asked ?? ofPolicies.get(key)
    if (schemas === undefined) continue
    if (leaf.isVault && (asked !== undefined || schemas.some((schema) => accepts(schema, SCALARS)))) {
      report.add({
        path: leaf.path,
        message: `${leaf.references} cannot be used here: the value would be visible in plans`,
        remedy: 'write the value, or use ${env:NAME}',
      })
      continue
    }
    if (leaf.value === null) {
      // Only the machine of the gateway knows the value. A plan for elsewhere has the least one in its place.
      const bounds = asked?.find((schema) => schema['bounds'] !== undefined)?.['bounds'] as Bounds | undefined
      if (bounds !== undefined) put(kept, leaf.path, bounds.min)
      continue
    }
    const value = scalarFor(leaf.value, schemas)
    put(resolved, leaf.path, value)
    if (typeof value !== 'string') put(kept, leaf.path, value)
    else if (asked !== undefined) {
      put(kept, leaf.path, escapeText(value))
      inlined.set(key, String(valueAt(root, leaf.path)))
    }
  }
  return { kept, resolved, inlined }
}

/** Returns the schemas that reject a string because it is a reference, by formatted path. */
function refusedSchemas(violations: readonly Violation[]): Map<string, TSchema[]> {
  const refused = new Map<string, TSchema[]>()
  for (const { path, key, schema, isSecret } of violations) {
    if (key !== null || isSecret || schema['keepsReference'] === true) continue
    const location = formatPath(path)
    refused.set(location, [...(refused.get(location) ?? []), schema])
  }
  return refused
}

const SCALARS = ['integer', 'number', 'boolean']

/** Converts a value to a number or boolean if the schemas ask for one and the string contains one. */
function scalarFor(text: string, schemas: readonly TSchema[]): string | number | boolean {
  if (schemas.some((schema) => accepts(schema, ['integer', 'number'])) && /^-?\d+(\.\d+)?$/.test(text))
    return Number(text)
  if (schemas.some((schema) => accepts(schema, ['boolean'])) && /^(true|false)$/.test(text))
    return text === 'true'
  return text
}

function accepts(schema: TSchema, types: readonly string[]): boolean {
  if (types.includes(String(schema['type']))) return true
  const branches: readonly TSchema[] = schema['anyOf'] ?? []
  return branches.some((branch) => accepts(branch, types))
}

function put(root: unknown, path: DocumentPath, value: ReferencedLeaf['value'] | number | boolean): void {
  const holder = valueAt(root, path.slice(0, -1))
  const last = path.at(-1)
  if (value === null || last === undefined) return
  if (Array.isArray(holder) && typeof last === 'number') holder[last] = value
  else if (isMapping(holder)) holder[last] = value
}
