import type { TSchema } from '@sinclair/typebox'
import { isMapping } from '../diagnostic/document-path.js'
import { schemaErrors } from './validator.js'

/**
 * Fills in the defaults of a schema, in place.
 * @param resolved the same value with references resolved, which decides the branch of a union
 */
export function fillDefaults(schema: TSchema, value: unknown, resolved: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const part of schema['allOf'] ?? []) fillDefaults(part, value, resolved)
  const branches: TSchema[] | undefined = schema['anyOf']
  const branch = branches?.find((candidate) => schemaErrors(candidate, resolved).length === 0)
  if (branch !== undefined) fillDefaults(branch, value, resolved)
  if (Array.isArray(value)) fillItems(schema, value, resolved)
  else if (isMapping(value)) fillKeys(schema, value, resolved)
}

function fillItems(schema: TSchema, items: readonly unknown[], resolved: unknown): void {
  const item: TSchema | undefined = schema['items']
  if (!isMapping(item)) return
  for (const [i, value] of items.entries())
    fillDefaults(item as TSchema, value, Array.isArray(resolved) ? resolved[i] : undefined)
}

const NO_PROPERTIES = {}

/** Defaults of properties, because a document can have thousands of mappings with the same schema. */
const defaults = new WeakMap<object, readonly (readonly [key: string, value: unknown])[]>()

function defaultsOf(properties: Readonly<Record<string, TSchema>>) {
  const known = defaults.get(properties)
  if (known !== undefined) return known
  const found = Object.entries(properties)
    .filter(([, property]) => property['default'] !== undefined)
    .map(([key, property]) => [key, property['default']] as const)
  defaults.set(properties, found)
  return found
}

function fillKeys(schema: TSchema, mapping: Record<string, unknown>, resolved: unknown): void {
  const properties: Readonly<Record<string, TSchema>> = schema['properties'] ?? NO_PROPERTIES
  for (const [key, value] of defaultsOf(properties))
    if (!Object.hasOwn(mapping, key))
      mapping[key] = typeof value === 'object' ? structuredClone(value) : value
  for (const [key, value] of Object.entries(mapping)) {
    const property = Object.hasOwn(properties, key) ? properties[key]! : restSchema(schema)
    if (property === null) continue
    const resolvedValue = isMapping(resolved) && Object.hasOwn(resolved, key) ? resolved[key] : value
    fillDefaults(property, value, resolvedValue)
  }
}

/** Returns the schema of keys that `properties` does not list, as in objects with user-defined names. */
function restSchema(schema: TSchema): TSchema | null {
  const rest: unknown = Object.values(schema['patternProperties'] ?? {})[0] ?? schema['additionalProperties']
  return isMapping(rest) ? (rest as TSchema) : null
}
