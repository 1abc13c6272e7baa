import type { TSchema } from '@sinclair/typebox'
import { isMapping } from '../diagnostic/document-path.js'

const contents = new WeakMap<TSchema, Map<string, boolean>>()

/** True if a schema, a part of it or a schema that it refers to may contain a piece of JSON such as `"secret":true`. */
export function mayContain(schema: TSchema, json: string): boolean {
  const known = contents.get(schema) ?? new Map<string, boolean>()
  contents.set(schema, known)
  const isKnown = known.get(json)
  if (isKnown !== undefined) return isKnown
  const text = JSON.stringify(schema)
  const isContained = text.includes(json) || text.includes('"$ref":')
  known.set(json, isContained)
  return isContained
}

/**
 * Returns a schema with the branches of its unions and the target of its `$ref`. A reference that cannot be
 * resolved counts as secret.
 */
export function expanded(schema: TSchema, root: TSchema, followed: readonly unknown[] = []): TSchema[] {
  const parts: TSchema[] = [
    ...(schema['anyOf'] ?? []),
    ...(schema['oneOf'] ?? []),
    ...(schema['allOf'] ?? []),
  ]
  const below = parts.flatMap((part) => expanded(part, root, followed))
  const reference: unknown = schema['$ref']
  if (reference === undefined || followed.includes(reference)) return [schema, ...below]
  const target = targetOf(String(reference), root)
  if (target === null) return [{ ...schema, secret: true }]
  return [schema, ...below, ...expanded(target, root, [...followed, reference])]
}

function targetOf(reference: string, root: TSchema): TSchema | null {
  const definitions: Record<string, TSchema> = { ...root['definitions'], ...root['$defs'] }
  const name = reference.replace(/^#\/(\$defs|definitions)\//, '')
  if (Object.hasOwn(definitions, name)) return definitions[name]!
  return reference === '#' ? root : findById(root, reference)
}

function findById(value: unknown, id: string): TSchema | null {
  if (typeof value !== 'object' || value === null) return null
  if ('$id' in value && value.$id === id) return value as TSchema
  for (const part of Object.values(value)) {
    const found = findById(part, id)
    if (found !== null) return found
  }
  return null
}

/** Returns the schemas of an item of a list. */
export function itemSchemas(schema: TSchema, position: number): TSchema[] {
  const items: unknown = schema['items']
  if (Array.isArray(items)) return items[position] === undefined ? [] : [items[position]]
  return isMapping(items) ? [items as TSchema] : []
}

/** Returns the schemas of a member of an object. */
export function keySchemas(schema: TSchema, key: string): TSchema[] {
  const properties: Record<string, TSchema> = schema['properties'] ?? {}
  const named = Object.hasOwn(properties, key) ? [properties[key]!] : []
  const patterns = Object.entries<TSchema>(schema['patternProperties'] ?? {})
  const matching = patterns.filter(([pattern]) => new RegExp(pattern, 'u').test(key)).map(([, part]) => part)
  const rest: unknown = schema['additionalProperties']
  if (named.length + matching.length > 0 || !isMapping(rest)) return [...named, ...matching]
  return [rest as TSchema]
}
