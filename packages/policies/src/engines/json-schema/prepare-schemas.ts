import type { AnySchema } from 'ajv'
import type { Draft } from './draft.js'
import { TRACK_KEYWORD } from './evaluated-keywords.js'
import { ENUM_KEYWORD, LINK_KEYWORD, STEP_KEYWORD } from './exact-keywords.js'
import { checkReferences } from './reference-check.js'
import type { SchemaDocument } from './schema-references.js'
import { copySchema, isSchemaNode, type SchemaNode, setMember, walkSchema } from './schema-walk.js'

/** Keywords of the compiler that no draft defines. They would change the verdict, so they are removed from schemas. */
const COMPILER_KEYWORDS = ['nullable', '$async', STEP_KEYWORD, TRACK_KEYWORD, ENUM_KEYWORD]

/** Keywords that drafts 04 and 07 ignore beside `$ref`. */
const ASSERTIONS = new Set(
  (
    'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format ' +
    'items additionalItems maxItems minItems uniqueItems contains maxProperties minProperties required properties ' +
    'patternProperties additionalProperties dependencies propertyNames if then else allOf anyOf oneOf not'
  ).split(' '),
)

/** Schemas in the form that the compiler reads correctly. */
export interface PreparedSchemas {
  /** Schemas in the order of the documents. */
  readonly schemas: readonly AnySchema[]
  /** True if a schema has `unevaluatedProperties` or `unevaluatedItems`, so that the compiler must track evaluation. */
  readonly hasUnevaluated: boolean
}

/** Property name with a special meaning in JavaScript. */
const PROTO: string = '__proto__'

/** Facts about all documents together. */
interface Facts {
  readonly draft: Draft
  readonly hasUnevaluated: boolean
  readonly hasRecursiveAnchor: boolean
  /** Names of dynamic anchors that several schemas define, so that the evaluation path decides which one applies. */
  readonly ambiguousAnchors: ReadonlySet<string>
}

/**
 * Copies schemas that validate together. Rewrites what the compiler reads incorrectly in an equivalent form that it
 * reads correctly.
 * @param documents all documents: references between them are resolved.
 * @param isTracked true if schemas that are linked to these have `unevaluatedProperties` or `unevaluatedItems`.
 * @throws Error for a construct without such a form, with a remedy.
 */
export function prepareSchemas(
  documents: readonly SchemaDocument[],
  draft: Draft,
  isTracked = false,
): PreparedSchemas {
  const found = factsOf(documents, draft)
  const facts = { ...found, hasUnevaluated: found.hasUnevaluated || isTracked }
  const prepared = documents.map(({ schema, address }) => ({
    address,
    schema: copySchema(schema, (node, isRoot) => prepareNode(node, isRoot, facts)),
  }))
  checkReferences(prepared, draft)
  return { schemas: prepared.map(({ schema }) => schema as AnySchema), hasUnevaluated: facts.hasUnevaluated }
}

function factsOf(documents: readonly SchemaDocument[], draft: Draft): Facts {
  // The meta-schema defines this anchor.
  const anchors = new Set(['meta'])
  const ambiguousAnchors = new Set<string>()
  let hasRecursiveAnchor = false
  let hasUnevaluated = false
  for (const { schema } of documents) {
    walkSchema(schema, (node) => {
      const { $dynamicAnchor: anchor, $recursiveAnchor: recursive } = node
      if (recursive === true) hasRecursiveAnchor = true
      if (Object.hasOwn(node, 'unevaluatedItems') || Object.hasOwn(node, 'unevaluatedProperties'))
        hasUnevaluated = true
      if (typeof anchor !== 'string') return
      if (anchors.has(anchor)) ambiguousAnchors.add(anchor)
      anchors.add(anchor)
    })
  }
  const isOld = draft === '04' || draft === '07'
  return { draft, hasUnevaluated: hasUnevaluated && !isOld, hasRecursiveAnchor, ambiguousAnchors }
}

function prepareNode(node: SchemaNode, isRoot: boolean, facts: Facts): void {
  for (const keyword of COMPILER_KEYWORDS) delete node[keyword]
  if (facts.draft !== '04') delete node['id']
  checkSchemaKeyword(node, isRoot, facts.draft)
  prepareProto(node)
  prepareEnum(node)
  isolateFromTuple(node)
  if (facts.draft === '04' || facts.draft === '07') checkSiblings(node, isRoot, facts.draft)
  else {
    prepareModern(node, facts)
    if (isRoot && typeof node['$anchor'] === 'string') moveRootAnchor(node, node['$anchor'])
  }
  if (typeof node['$ref'] === 'string' || Object.hasOwn(node, LINK_KEYWORD)) node[STEP_KEYWORD] = true
}

function prepareModern(node: SchemaNode, facts: Facts): void {
  const { draft, hasUnevaluated, hasRecursiveAnchor, ambiguousAnchors } = facts
  if (hasUnevaluated) {
    if (Object.hasOwn(node, 'if')) prepareCondition(node)
    node[TRACK_KEYWORD] = true
  }
  if (draft === '2019-09') prepareRecursion(node, hasRecursiveAnchor)
  else prepareDynamic(node, ambiguousAnchors)
  // The compiler recurses endlessly if a schema with its own `$id` contains only a reference.
  if (typeof node['$id'] === 'string' && typeof node['$ref'] === 'string') moveIntoAllOf(node, '$ref')
}

/** Rewrites `if`: the compiler counts anything that a condition inspects as evaluated, even if it fails. */
function prepareCondition(node: SchemaNode): void {
  const condition = node['if']
  node['if'] = { not: { not: condition } }
  node['then'] = { allOf: Object.hasOwn(node, 'then') ? [condition, node['then']] : [condition] }
}

/** Isolates keywords beside a tuple: in a loop, the compiler skips them if the previous array had an invalid item. */
function isolateFromTuple(node: SchemaNode): void {
  if (!Array.isArray(node['items']) && !Object.hasOwn(node, 'prefixItems')) return
  isolate(node, 'contains', ['contains', 'minContains', 'maxContains'])
  isolate(node, 'uniqueItems', ['uniqueItems'])
}

/** Moves a group of keywords into an `allOf`, where the compiler does not mix them up with others. */
function isolate(node: SchemaNode, keyword: string, group: readonly string[]): void {
  if (!Object.hasOwn(node, keyword) || Object.keys(node).every((name) => group.includes(name))) return
  const part: SchemaNode = {}
  for (const name of group) {
    if (!Object.hasOwn(node, name)) continue
    part[name] = node[name]
    delete node[name]
  }
  pushAllOf(node, part)
}

/** Replaces `$recursiveRef`. Without a `$recursiveAnchor` it is a plain reference to the root. */
function prepareRecursion(node: SchemaNode, hasRecursiveAnchor: boolean): void {
  const reference = node['$recursiveRef']
  if (typeof reference !== 'string') return
  if (hasRecursiveAnchor)
    throw new Error("'$recursiveRef' is not supported together with '$recursiveAnchor: true'; use '$ref'")
  replaceReference(node, '$recursiveRef')
}

/** Replaces dynamic anchors that occur only once: they resolve to the same schema from everywhere. */
function prepareDynamic(node: SchemaNode, ambiguous: ReadonlySet<string>): void {
  const anchor = node['$dynamicAnchor']
  if (typeof anchor === 'string' && !ambiguous.has(anchor) && node['$anchor'] === undefined) {
    delete node['$dynamicAnchor']
    node['$anchor'] = anchor
  }
  const reference = node['$dynamicRef']
  if (typeof reference !== 'string') return
  const name = reference.slice(reference.indexOf('#') + 1)
  if (ambiguous.has(name))
    throw new Error(
      `'$dynamicRef: ${reference}' may refer to several schemas, which is not supported; give each '$dynamicAnchor' a unique name, or use '$ref'`,
    )
  replaceReference(node, '$dynamicRef')
}

/** Adds a definition with the root's anchor, because the compiler does not find anchors of the root. */
function moveRootAnchor(node: SchemaNode, anchor: string): void {
  delete node['$anchor']
  const definitions = isSchemaNode(node['$defs']) ? node['$defs'] : {}
  node['$defs'] = { ...definitions, 'sluice:root': { $anchor: anchor, $ref: '#', [STEP_KEYWORD]: true } }
}

function replaceReference(node: SchemaNode, keyword: string): void {
  const reference = node[keyword]
  delete node[keyword]
  if (node['$ref'] === undefined) node['$ref'] = reference
  else pushAllOf(node, { $ref: reference, [STEP_KEYWORD]: true })
}

function moveIntoAllOf(node: SchemaNode, keyword: string): void {
  const part = { [keyword]: node[keyword], [STEP_KEYWORD]: true }
  delete node[keyword]
  pushAllOf(node, part)
}

function pushAllOf(node: SchemaNode, part: SchemaNode): void {
  const allOf = Array.isArray(node['allOf']) ? node['allOf'] : []
  node['allOf'] = [...allOf, part]
}

/** Replaces `enum` and `const` with structured values: the compiler's equality is unsafe for hostile objects. */
function prepareEnum(node: SchemaNode): void {
  const { enum: allowed, const: only } = node
  // The compiler rejects an empty list as a mistake. Such a schema accepts nothing.
  if (Array.isArray(allowed) && (allowed.length === 0 || allowed.some(isStructure))) {
    delete node['enum']
    node[ENUM_KEYWORD] = allowed
  }
  if (!isStructure(only)) return
  delete node['const']
  if (node[ENUM_KEYWORD] === undefined) node[ENUM_KEYWORD] = [only]
  else pushAllOf(node, { [ENUM_KEYWORD]: [only] })
}

function isStructure(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Moves a `__proto__` property to `patternProperties`, because the compiler skips properties of that name. */
function prepareProto(node: SchemaNode): void {
  const { properties, patternProperties } = node
  if (isSchemaNode(properties) && Object.hasOwn(properties, PROTO)) {
    const patterns: SchemaNode = isSchemaNode(patternProperties) ? { ...patternProperties } : {}
    setMember(patterns, '^(?:__proto__)$', properties[PROTO])
    delete properties[PROTO]
    node['patternProperties'] = patterns
  }
  for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
    const map = node[keyword]
    if (isSchemaNode(map) && Object.hasOwn(map, PROTO))
      throw new Error(`'${keyword}' has a member '__proto__', which is not supported; use 'if' and 'then'`)
  }
}

/** Refuses keywords that old drafts ignore beside `$ref` but the compiler would check. */
function checkSiblings(node: SchemaNode, isRoot: boolean, draft: Draft): void {
  if (typeof node['$ref'] !== 'string') return
  const ignored = Object.keys(node).find(
    (name) => ASSERTIONS.has(name) || (!isRoot && name === (draft === '04' ? 'id' : '$id')),
  )
  if (ignored !== undefined)
    throw new Error(
      `draft ${draft} ignores '${ignored}' beside '$ref'; move the reference into an 'allOf', or remove '${ignored}'`,
    )
}

function checkSchemaKeyword(node: SchemaNode, isRoot: boolean, draft: Draft): void {
  if (Object.hasOwn(node, '$vocabulary'))
    throw new Error(
      "'$vocabulary' is not supported, because meta-schemas are not read; name a draft with 'draft'",
    )
  const named = node['$schema']
  if (isRoot || typeof named !== 'string') return
  if (named.replace(/#$/, '').includes(draft === '04' || draft === '07' ? `draft-${draft}/` : `/${draft}/`))
    return
  throw new Error(`a nested schema declares another draft ('${named}'); all schemas must use draft ${draft}`)
}
