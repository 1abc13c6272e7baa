import type { TSchema } from '@sinclair/typebox'
import { isMapping } from './document-path.js'
import { isFlaw } from './flaw.js'
import { parseTemplate } from './reference/text-template.js'

/** What stands in place of a secret. */
export const MASK = '***'

/**
 * A copy of a value in which everything that its schema calls secret is masked; references are shown. Where several
 * branches of a union could be meant, a secret of any of them counts.
 */
export function maskSecrets(schema: TSchema, value: unknown): unknown {
  return masked([schema], value, schema)
}

function masked(schemas: readonly TSchema[], value: unknown, root: TSchema): unknown {
  const branches = schemas.flatMap((schema) => expanded(schema, root))
  if (branches.some((schema) => schema['secret'] === true)) return maskOf(value)
  if (Array.isArray(value)) {
    return value.map((item, i) =>
      masked(
        branches.flatMap((schema) => itemSchemas(schema, i)),
        item,
        root,
      ),
    )
  }
  if (!isMapping(value)) return value
  const members = Object.entries(value).map(([key, item]) => {
    const below = branches.flatMap((schema) => keySchemas(schema, key))
    return [key, masked(below, item, root)] as const
  })
  return Object.fromEntries(members)
}

function maskOf(value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (typeof value !== 'string') return MASK
  const template = parseTemplate(value)
  return !isFlaw(template) && template.every((part) => typeof part !== 'string') ? value : MASK
}

/** A schema with the branches of its unions and what it refers to. A reference that cannot be followed is secret. */
function expanded(schema: TSchema, root: TSchema, followed: readonly unknown[] = []): TSchema[] {
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

function itemSchemas(schema: TSchema, position: number): TSchema[] {
  const items: unknown = schema['items']
  if (Array.isArray(items)) return items[position] === undefined ? [] : [items[position]]
  return isMapping(items) ? [items as TSchema] : []
}

function keySchemas(schema: TSchema, key: string): TSchema[] {
  const properties: Record<string, TSchema> = schema['properties'] ?? {}
  const named = Object.hasOwn(properties, key) ? [properties[key]!] : []
  const patterns = Object.entries<TSchema>(schema['patternProperties'] ?? {})
  const matching = patterns.filter(([pattern]) => new RegExp(pattern, 'u').test(key)).map(([, part]) => part)
  const rest: unknown = schema['additionalProperties']
  if (named.length + matching.length > 0 || !isMapping(rest)) return [...named, ...matching]
  return [rest as TSchema]
}
