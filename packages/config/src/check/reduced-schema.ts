import type { TSchema } from '@sinclair/typebox'
import { isMapping } from '../diagnostic/document-path.js'

/** A schema without the keys that a value does not have. */
export interface ReducedSchema {
  readonly schema: TSchema
  /** The keys that the schema still has. Values with the same shape share one validator. */
  readonly shape: string
}

/**
 * Reduces a schema to the keys of a value: most keys of the document schema are absent from a given document.
 * Only suitable to test validity, because error messages list all possible keys.
 */
export function reduceSchema(schema: TSchema, value: unknown): ReducedSchema {
  const shape: string[] = []
  return { schema: partOf(schema, [value], shape), shape: shape.join('') }
}

/** @param values all values that must satisfy the schema */
function partOf(schema: TSchema, values: readonly unknown[], shape: string[]): TSchema {
  // A schema with an id may be referenced from within itself.
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
