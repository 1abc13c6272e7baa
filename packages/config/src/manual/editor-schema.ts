import type { TSchema } from '@sinclair/typebox'
import type { Catalog, DeprecatedKeys } from '@sluice/core'
import { expectationOf } from '../check/expectation.js'
import { documentSchema } from '../schema/document.js'

type Json = Record<string, unknown>

/** JSON Schema keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = ['items', 'additionalProperties', 'contains', 'not', 'if', 'then', 'else']
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions']
/** Keywords that are copied unchanged. */
const KEPT = [
  ...['type', 'enum', 'const', 'default', 'description', 'examples', 'pattern', 'minLength', 'maxLength'],
  ...[
    'minimum',
    'maximum',
    'minItems',
    'maxItems',
    'uniqueItems',
    'required',
    'minProperties',
    'maxProperties',
  ],
]
/** Schema of a string with a reference, whose value an editor cannot know. */
const REFERENCE = { type: 'string', pattern: '\\$\\{' }

/**
 * Returns the JSON Schema (draft-07) of documents for editors, including the parameters of every policy in
 * the catalog. It covers keys, types, ranges and words. Paths, conditions and cross-references are only
 * checked by `gw validate`.
 */
export function editorSchema(catalog: Catalog): Json {
  const uses = [...catalog.values()].map(({ name, schema }) => ({
    if: { properties: { use: { const: name } }, required: ['use'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { with: plain(schema) } },
  }))
  const names = { type: 'string', enum: [...catalog.keys()] }
  const schema = plain(documentSchema)
  const root = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Sluice gateway document',
    ...schema,
    definitions: { policy: { properties: { use: { anyOf: [names, REFERENCE] } }, allOf: uses } },
  }
  const { properties } = root as unknown as { readonly properties: Record<string, Json> }
  refine(items(properties['policies']))
  const route = items(properties['routes'])
  const chains = [
    (route['properties'] as Record<string, Json>)['policies'],
    properties['policyGroups']?.['additionalProperties'] as Json,
  ]
  for (const branch of chains.flatMap((chain) => items(chain)['anyOf'] as Json[]))
    if (branch['type'] === 'object') refine(branch)
  return root
}

/** Adds the schema of policy parameters to an inline policy. */
function refine(policy: Json): void {
  policy['allOf'] = [{ $ref: '#/definitions/policy' }]
}

function items(list: Json | undefined): Json {
  return (list?.['items'] ?? {}) as Json
}

function keywords(schema: TSchema): Json {
  return Object.fromEntries(KEPT.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]))
}

/** Converts a schema to standard keywords, and allows references in place of values. */
function plain(schema: TSchema): Json {
  const result = keywords(schema)
  for (const key of ONE) if (schema[key] !== undefined) result[key] = below(schema[key])
  if (schema['propertyNames'] !== undefined) result['propertyNames'] = keywords(schema['propertyNames'])
  for (const key of LIST) if (Array.isArray(schema[key])) result[key] = schema[key].map(below)
  for (const key of NAMED) if (schema[key] !== undefined) result[key] = named(schema[key])
  if (schema['additionalProperties'] === false) allowExtensions(result)
  allowOldForms(schema, result)
  if (schema['choice'] !== undefined) result['allOf'] = choices(schema['choice'])
  if (result['description'] === undefined && typeof schema['expects'] === 'string')
    result['description'] = expectationOf(schema)
  return withOldValues(schema, withReferences(result))
}

/** Allows deprecated values and shorthands in place of a value. */
function withOldValues(schema: TSchema, result: Json): Json {
  const old = Object.keys(schema['deprecatedValues'] ?? {})
  const others = [
    ...(old.length === 0 ? [] : [{ enum: old, deprecated: true }]),
    ...(schema['shorthand'] === 'list' ? [(result['items'] ?? {}) as Json] : []),
    ...(schema['shorthand'] === undefined || schema['shorthand'] === 'list' ? [] : [{ type: 'string' }]),
  ]
  if (others.length === 0) return result
  const { description, default: fallback, ...rest } = result
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [rest, ...others],
  }
}

/** Allows the keys for notes and anchors, which the gateway ignores. */
function allowExtensions(result: Json): void {
  result['patternProperties'] = { '^x-': {}, ...(result['patternProperties'] as Json | undefined) }
}

/** Allows the deprecated keys of an object, which editors strike through, and its replaced keys to be absent. */
function allowOldForms(schema: TSchema, result: Json): void {
  const old: DeprecatedKeys = schema['deprecatedKeys'] ?? {}
  for (const [key, rule] of Object.entries(old)) {
    const use = typeof rule === 'string' ? rule : rule.use
    result['properties'] = {
      ...(result['properties'] as Json),
      [key]: { deprecated: true, description: `Use \`${use}\`.` },
    }
    if (Array.isArray(result['required']))
      result['required'] = result['required'].filter((required) => required !== use.split('.')[0])
  }
}

/** Allows references in place of scalars. An unbounded string accepts them anyway. */
function withReferences(schema: Json): Json {
  const { type, pattern, maxLength, minLength, minimum, maximum } = schema
  const isScalar =
    ['string', 'number', 'integer', 'boolean'].includes(String(type)) || 'const' in schema || 'enum' in schema
  const bounds = [pattern, maxLength, minLength, minimum, maximum, schema['enum'], schema['const']]
  const isBounded = type !== 'string' || bounds.some((bound) => bound !== undefined)
  if (!isScalar || !isBounded) return schema
  const { description, default: fallback, ...rest } = schema
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [rest, REFERENCE],
  }
}

function below(schema: unknown): unknown {
  return typeof schema === 'object' && schema !== null ? plain(schema as TSchema) : schema
}

function named(schemas: Readonly<Record<string, TSchema>>): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, below(schema)]))
}

/** Converts the keyword `choice` to standard keywords. */
function choices({
  keys,
  min,
  max,
}: {
  readonly keys: readonly string[]
  readonly min: number
  readonly max: number
}): Json[] {
  const present = keys.map((key) => ({ required: [key] }))
  const pairs = keys.flatMap((key, i) => keys.slice(i + 1).map((other) => ({ required: [key, other] })))
  return [
    ...(min === 1 ? [{ anyOf: present }] : []),
    ...(max === 1 && pairs.length > 0 ? [{ not: { anyOf: pairs } }] : []),
  ]
}
