import { normalizeDocument, readYaml } from '@sluice/config'
import { catalog } from '@sluice/policies'

/** A parsed part of a document. References are not resolved. */
export type RawPart = Readonly<Record<string, unknown>>

/** Error if objects cannot be generated from a document and its settings. The message includes the fix. */
export class ObjectsError extends Error {
  override readonly name = 'ObjectsError'
}

/** Parses a document to plain data in its current form. @throws ObjectsError if it is invalid YAML or has circular aliases */
export function readRaw(text: string): RawPart {
  const { value, issues } = readYaml(text)
  if (issues.length > 0)
    throw new ObjectsError(
      'the document is invalid YAML or has a circular alias; run gw validate for the position',
    )
  return partOf(normalizeDocument(value, catalog).value)
}

/** Returns the object of a key, or an empty one. */
export function partAt(part: RawPart, key: string): RawPart {
  return partOf(part[key])
}

/** Returns the list of objects of a key. */
export function partsAt(part: RawPart, key: string): readonly RawPart[] {
  return listAt(part, key).map(partOf)
}

/** Returns the list of a key, or an empty one. */
export function listAt(part: RawPart, key: string): readonly unknown[] {
  const list = part[key]
  return Array.isArray(list) ? list : []
}

/** Returns the text of a key, or null. */
export function textAt(part: RawPart, key: string): string | null {
  const text = part[key]
  return typeof text === 'string' ? text : null
}

/** Returns all texts in a value, recursively. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

function partOf(value: unknown): RawPart {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawPart) : {}
}
