import type { Draft } from './draft.js'
import { type SchemaDocument, SchemaReferences } from './schema-references.js'
import { isSchemaNode, type SchemaNode } from './schema-walk.js'

/** Keywords with one subschema for the same value, and those with a list of subschemas. */
const SAME_VALUE = ['not', 'if', 'then', 'else'] as const
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'] as const
/** Keywords with named subschemas for the same value. */
const SAME_VALUE_MAPS = ['dependentSchemas', 'dependencies'] as const

/**
 * Checks the references of schemas.
 * @throws Error for circular references, and for an `unevaluatedItems` that the compiler cannot evaluate.
 */
export function checkReferences(documents: readonly SchemaDocument[], draft: Draft): void {
  const references = new SchemaReferences(documents, draft === '04' ? 'id' : '$id')
  checkEnds(references)
  // In earlier drafts `contains` does not count as evaluating.
  if (draft === '2020-12') checkUnevaluatedItems(references)
}

/** Refuses references that return to the same schema with the same value, because validation would never end. */
function checkEnds(references: SchemaReferences): void {
  const done = new Set<SchemaNode>()
  const open = new Set<SchemaNode>()
  const visit = (node: SchemaNode): void => {
    if (done.has(node)) return
    if (open.has(node))
      throw new Error(
        `circular reference${typeof node['$ref'] === 'string' ? ` ('${node['$ref']}')` : ''}: move one of the references below 'properties' or 'items'`,
      )
    open.add(node)
    for (const next of sameValue(node, references)) visit(next)
    open.delete(node)
    done.add(node)
  }
  for (const node of references.nodes) visit(node)
}

/** Returns the schemas that apply to the same value as a schema. */
function sameValue(node: SchemaNode, references: SchemaReferences): SchemaNode[] {
  const target = references.target(node)
  return [
    ...(target === null ? [] : [target]),
    ...[...SAME_VALUE, ...SAME_VALUE_LISTS, ...SAME_VALUE_MAPS].flatMap((keyword) => partsOf(node, keyword)),
  ]
}

/** Returns the schemas directly under a keyword. */
function partsOf(node: SchemaNode, keyword: string): SchemaNode[] {
  if (!Object.hasOwn(node, keyword)) return []
  const value = node[keyword]
  if (Array.isArray(value)) return value.filter(isSchemaNode)
  if (!isSchemaNode(value)) return []
  if (!(SAME_VALUE_MAPS as readonly string[]).includes(keyword)) return [value]
  return Object.values(value).filter(isSchemaNode)
}

/** Refuses `unevaluatedItems` beside `contains`: the compiler tracks only how many items are evaluated, not which. */
function checkUnevaluatedItems(references: SchemaReferences): void {
  for (const node of references.nodes) {
    if (!Object.hasOwn(node, 'unevaluatedItems')) continue
    const beside = [node, ...reachable(sameValue(node, references), references)]
    if (beside.some((one) => Object.hasOwn(one, 'contains')))
      throw new Error("'unevaluatedItems' beside 'contains' is not supported; use 'items' instead")
  }
}

function reachable(from: readonly SchemaNode[], references: SchemaReferences): Set<SchemaNode> {
  const found = new Set(from)
  // The set grows during the iteration.
  for (const node of found) for (const next of sameValue(node, references)) found.add(next)
  return found
}
