import type { TSchema } from '@sinclair/typebox'
import { expectationOf } from '../check/expectation.js'
import { isMapping } from '../diagnostic/document-path.js'

/** A row of the manual for one key of the document. */
export interface KeyRow {
  /** Path of the key. `[]` stands for any list item, `NAME` for any user-defined name. */
  readonly path: string
  readonly type: string
  /** Default value, `required` for a required key, or empty if absence has its own meaning. */
  readonly defaultText: string
  readonly description: string
}

/** Returns a row for each key of a schema, recursively, in the order of the schema. */
export function keyRows(schema: TSchema, path = ''): readonly KeyRow[] {
  return [
    ...propertyRows(schema, path),
    ...branchesOf(schema).flatMap((branch) => keyRows(branch, path)),
    ...(isMapping(schema['items']) ? keyRows(schema['items'] as TSchema, `${path}[]`) : []),
    ...namedRows(schema, path),
  ]
}

function propertyRows(schema: TSchema, path: string): readonly KeyRow[] {
  const properties = Object.entries<TSchema>(schema['properties'] ?? {})
  return properties.flatMap(([key, property]) => {
    const at = path === '' ? key : `${path}.${key}`
    const isRequired = (schema['required'] as readonly string[] | undefined)?.includes(key) === true
    return [rowOf(property, at, isRequired), ...keyRows(property, at)]
  })
}

/** Returns the rows of the values of an object with user-defined names. */
function namedRows(schema: TSchema, path: string): readonly KeyRow[] {
  const values: unknown = schema['additionalProperties']
  return isMapping(values) ? keyRows(values as TSchema, `${path}.NAME`) : []
}

function rowOf(schema: TSchema, path: string, isRequired: boolean): KeyRow {
  const descriptions = [schema, ...branchesOf(schema)].map((some) => some.description ?? '')
  return {
    path,
    type: typeOf(schema),
    defaultText: isRequired ? 'required' : formatDefault(schema['default']),
    description: descriptions.find((text) => text !== '') ?? '',
  }
}

function branchesOf(schema: TSchema): readonly TSchema[] {
  return schema['anyOf'] ?? []
}

/** Returns the type of a key, without the article that diagnostics use. */
function typeOf(schema: TSchema): string {
  const branches = branchesOf(schema)
  if (branches.length > 0) return [...new Set(branches.map(typeOf))].join(' or ')
  const noun = nounOf(schema)
  return schema['secret'] === true ? `secret ${noun}` : noun
}

function nounOf(schema: TSchema): string {
  if (schema['type'] === 'array')
    return `list of ${itemOf(schema['items']).replace(/^(string|object)$/, '$1s')}`
  const values: unknown = schema['additionalProperties']
  if (isMapping(values)) return `object (NAME: ${itemOf(values)})`
  const words: unknown = schema['enum']
  if (Array.isArray(words)) return words.map((word) => `\`${word}\``).join(', ')
  if (schema['type'] === 'object') return 'object'
  if (schema['type'] === 'boolean') return 'boolean'
  return expectationOf(schema).replace(/^(an?|the) /, '')
}

function itemOf(schema: unknown): string {
  const type = isMapping(schema) && Object.keys(schema).length > 0 ? typeOf(schema as TSchema) : 'anything'
  return type === 'something else' || type === 'secret something else' ? 'anything' : type
}

/** Formats a default. Empty strings, lists and objects are not shown; objects are filled in key by key. */
function formatDefault(value: unknown): string {
  if (value === undefined || value === '') return ''
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return isEmpty ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
