import { parse } from 'yaml'

/** A part of a document as it was read: it may hold references where the plan has values. */
export type RawPart = Readonly<Record<string, unknown>>

/** Why objects cannot be made of a document and its settings; the message names the remedy. */
export class ObjectsError extends Error {
  override readonly name = 'ObjectsError'
}

/** The document as plain data. @throws ObjectsError when its text is no YAML mapping. */
export function readRaw(text: string): RawPart {
  let root: unknown
  try {
    root = parse(text)
    // An alias of what holds it has no end.
    JSON.stringify(root)
  } catch (cause) {
    throw new ObjectsError('the document is not YAML without circles; gw validate says where', { cause })
  }
  return partOf(root)
}

/** The mapping below a key, empty when there is none. */
export function partAt(part: RawPart, key: string): RawPart {
  return partOf(part[key])
}

/** The mappings of the list below a key. */
export function partsAt(part: RawPart, key: string): readonly RawPart[] {
  return listAt(part, key).map(partOf)
}

/** The list below a key, empty when there is none. */
export function listAt(part: RawPart, key: string): readonly unknown[] {
  const list = part[key]
  return Array.isArray(list) ? list : []
}

/** The text below a key, null when there is none. */
export function textAt(part: RawPart, key: string): string | null {
  const text = part[key]
  return typeof text === 'string' ? text : null
}

/** Every text in a value. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

function partOf(value: unknown): RawPart {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawPart) : {}
}
