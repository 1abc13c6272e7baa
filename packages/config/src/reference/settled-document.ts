import type { TSchema } from '@sinclair/typebox'
import type { Catalog } from '@sluice/core'
import { policyViolations } from '../check/document-violations.js'
import { schemaViolationsOf, type Violation } from '../check/violation.js'
import { type DocumentPath, formatPath, isMapping, valueAt } from '../document-path.js'
import type { ReferencedLeaf, ReferencedLeaves } from './referenced-leaf.js'
import { escapeText } from './text-template.js'

/** A document in the two forms that its references ask for. */
interface SettledDocument {
  /** For the plan: references stand as written, except where the plan needs what they stand for. */
  readonly kept: unknown
  /** For checks: every reference is replaced by its value. */
  readonly resolved: unknown
  /** The texts whose value is in `kept`, as written, by formatted path. */
  readonly taken: TakenTexts
}

/** Texts with references that the plan does not keep, as the document has them, by formatted path. */
export type TakenTexts = ReadonlyMap<string, string>

/**
 * Decides for each text with a reference whether the plan keeps the reference or takes its value. It keeps it in every
 * text that it only copies, and in what policies receive; it takes the value where it needs what the text means: a
 * number, a duration, a keyword, an address, a name, the path and the hosts of a route.
 */
export function settleReferences(root: unknown, leaves: ReferencedLeaves, catalog: Catalog): SettledDocument {
  const kept = structuredClone(root)
  const resolved = structuredClone(root)
  const taken = new Map<string, string>()
  for (const leaf of leaves.values()) put(resolved, leaf.path, leaf.value)
  if (leaves.size === 0) return { kept, resolved, taken }
  const ofDocument = refusedSchemas(schemaViolationsOf(root))
  const ofPolicies = refusedSchemas(policyViolations(root, resolved, catalog))
  for (const [key, leaf] of leaves) {
    const asked = ofDocument.get(key)
    const schemas = asked ?? ofPolicies.get(key)
    if (schemas === undefined || leaf.value === null) continue
    const value = scalarFor(leaf.value, schemas)
    put(resolved, leaf.path, value)
    if (typeof value !== 'string') put(kept, leaf.path, value)
    else if (asked !== undefined) {
      put(kept, leaf.path, escapeText(value))
      taken.set(key, String(valueAt(root, leaf.path)))
    }
  }
  return { kept, resolved, taken }
}

/** The schemas that refuse a text because it is written as a reference, by formatted path. */
function refusedSchemas(violations: readonly Violation[]): Map<string, TSchema[]> {
  const refused = new Map<string, TSchema[]>()
  for (const { path, key, schema, isSecret } of violations) {
    if (key !== null || isSecret || schema['keepsReference'] === true) continue
    const location = formatPath(path)
    refused.set(location, [...(refused.get(location) ?? []), schema])
  }
  return refused
}

/** The value as a number or boolean where one is asked for and the text spells one. */
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
