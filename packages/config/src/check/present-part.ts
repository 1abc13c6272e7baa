import type { TSchema } from '@sinclair/typebox'
import { isMapping } from '../document-path.js'

/** A schema without the keys that a value leaves out. */
export interface PresentPart {
  readonly schema: TSchema
  /** The keys that are left. The same for values for which the same is left. */
  readonly shape: string
}

/**
 * What of a schema decides whether a value satisfies it: keys that it does not have are left out, which is most of them in
 * a document. It says no more than that: messages name the keys that are possible.
 */
export function presentPart(schema: TSchema, value: unknown): PresentPart {
  const shape: string[] = []
  return { schema: partOf(schema, [value], shape), shape: shape.join('') }
}

/** @param values all that have to satisfy the schema. */
function partOf(schema: TSchema, values: readonly unknown[], shape: string[]): TSchema {
  // One that is named is referred to from within.
  if (schema.$id !== undefined) return schema
  if (isMapping(schema['items']) && values.every(Array.isArray)) {
    const items = partOf(schema['items'] as TSchema, values.flat(1), shape)
    return { ...schema, items }
  }
  if (!isMapping(schema['properties']) || !values.every(isMapping)) return schema
  const properties: Record<string, TSchema> = {}
  shape.push('{')
  for (const [key, property] of Object.entries(schema['properties'])) {
    const present = values.filter((value) => Object.hasOwn(value, key)).map((value) => value[key])
    if (present.length === 0) continue
    shape.push(key, ' ')
    properties[key] = partOf(property as TSchema, present, shape)
  }
  shape.push('}')
  return { ...schema, properties }
}
