import type { TSchema } from '@sinclair/typebox'
import { isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml'
import { expanded, itemSchemas, keySchemas } from '../schema/branches.js'
import { documentSchema } from '../schema/document.js'

/** Position of `<<` and of other keys outside the schema. Notes at the root may hold anchors for the parts below. */
const MERGE = -2
const ROOT_NOTE = 0.5

/** Sorts the keys of all objects with fixed keys into the order of the schema. Other objects and lists stay as written. */
export function sortKeys(root: unknown): void {
  if (isDocument(root)) sortBelow([documentSchema], root)
}

/** True for gateway documents and parts of them, by their keys. Other YAML files have other schemas. */
function isDocument(root: unknown): root is YAMLMap {
  const names = isMap(root) ? root.items.map(nameOf) : []
  const isKnown = (name: string) => name.startsWith('x-') || Object.hasOwn(documentSchema.properties, name)
  return names.length > 0 && names.every(isKnown)
}

function sortBelow(schemas: readonly TSchema[], node: unknown): void {
  if (isAlias(node)) return
  const branches = schemas.flatMap((schema) => expanded(schema, documentSchema))
  if (isSeq(node)) {
    for (const [i, item] of node.items.entries())
      sortBelow(
        branches.flatMap((schema) => itemSchemas(schema, i)),
        item,
      )
  }
  if (!isMap(node)) return
  for (const pair of node.items)
    sortBelow(
      branches.flatMap((schema) => keySchemas(schema, nameOf(pair))),
      pair.value,
    )
  const fixed = branches.filter((schema) => schema['additionalProperties'] === false)
  const objects = branches.filter((schema) => schema['type'] === 'object')
  if (fixed.length > 0 && fixed.length === objects.length)
    sortMembers(node, [...new Set(fixed.flatMap((schema) => Object.keys(schema['properties'] ?? {})))])
}

function sortMembers(map: YAMLMap, order: readonly string[]): void {
  const isRoot = order[0] === 'version'
  const rankOf = (pair: Pair): number => {
    const name = nameOf(pair)
    if (name === '<<') return MERGE
    if (isRoot && name.startsWith('x-')) return ROOT_NOTE
    const rank = order.indexOf(name)
    return rank === -1 ? order.length : rank
  }
  const [first] = map.items
  map.items.sort((a, b) => rankOf(a) - rankOf(b))
  const [newFirst] = map.items
  if (first === undefined || newFirst === undefined || first === newFirst) return
  moveSpace(first, newFirst)
}

/** Moves the blank line before the new first pair to the pair that was first. */
function moveSpace(first: Pair, newFirst: Pair): void {
  const [key, newKey] = [first.key, newFirst.key]
  if (!isScalar(key) || !isScalar(newKey)) return
  key.spaceBefore = newKey.spaceBefore === true
  newKey.spaceBefore = false
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}
