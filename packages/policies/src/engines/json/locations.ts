import type { JsonPathQuery } from 'jsonpath-rfc9535/parser'
import { childOf } from './child.js'
import { parseQuery } from './path.js'
import { PathRun } from './path-run.js'

/** A member of an object or an element of an array, which can be changed there. */
export interface JsonLocation {
  readonly parent: object
  readonly key: string | number
}

/** A JSON path that finds locations. */
export interface JsonLocations {
  /** All that it finds. @throws UnreadableBody when it would look at too many values. */
  all(root: unknown): readonly JsonLocation[]
}

type Segment = JsonPathQuery['segments'][number]
/** Which children of a value a segment means; null: all of them. */
type Keys = readonly (string | number)[] | null

/**
 * Compiles a JSON path whose finds are to be changed: names, positions, `*` and `..`.
 * @throws Error that says what is wrong with the path.
 */
export function compileJsonLocations(path: string): JsonLocations {
  const { segments } = parseQuery(path)
  if (segments.length === 0) throw new Error(`'${path}' is the whole body; name something in it`)
  const steps = segments.map((segment) => ({
    keys: keysOf(segment, path),
    isDeep: segment.type === 'DescendantSegment',
  }))
  return {
    all(root) {
      const run = new PathRun(root)
      let values: unknown[] = [root]
      let locations: JsonLocation[] = []
      for (const { keys, isDeep } of steps) {
        locations = []
        for (const value of isDeep ? withDescendants(values, run) : values)
          addLocations(value, keys, locations, run)
        values = locations.map(valueAt)
      }
      return locations
    },
  }
}

export function valueAt({ parent, key }: JsonLocation): unknown {
  return childOf(parent, key)
}

/** Puts another value in its place; what objects inherit is out of reach. */
export function setAt({ parent, key }: JsonLocation, value: unknown): void {
  if (Object.hasOwn(parent, key)) (parent as Record<string | number, unknown>)[key] = value
}

/** Removes members and elements, several of one array too. */
export function removeLocations(locations: readonly JsonLocation[]): void {
  const gone = new Map<unknown[], Set<number | string>>()
  for (const { parent, key } of locations) {
    if (!Array.isArray(parent)) delete (parent as Record<string | number, unknown>)[key]
    else if (gone.has(parent)) gone.get(parent)!.add(key)
    else gone.set(parent, new Set([key]))
  }
  for (const [list, keys] of gone) {
    const kept = list.filter((_, i) => !keys.has(i))
    list.length = 0
    for (const one of kept) list.push(one)
  }
}

/** Calls `visit` for every member and element of a value, whose depth is bounded, at any depth. */
export function eachLocation(value: unknown, visit: (location: JsonLocation, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  for (const key of keys) {
    const child = childOf(value, key)
    visit({ parent: value, key }, child)
    eachLocation(child, visit)
  }
}

function keysOf({ node }: Segment, path: string): Keys {
  if (node.type === 'MemberNameShorthand') return [node.value]
  if (node.type === 'WildcardSelector') return null
  const keys: (string | number)[] = []
  for (const selector of node.selectors) {
    if (selector.type === 'WildcardSelector') return null
    if (selector.type !== 'NameSelector' && selector.type !== 'IndexSelector') {
      throw new Error(`'${path}' has a slice or a filter; locations are found by names, positions, * and ..`)
    }
    keys.push(selector.value)
  }
  return [...new Set(keys)]
}

/** All values under some values, and these; each once, also where one of them is under another. */
function withDescendants(values: readonly unknown[], run: PathRun): Iterable<unknown> {
  const all = new Set<unknown>()
  const add = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || all.has(value)) return
    run.visit()
    all.add(value)
    for (const child of Object.values(value)) add(child)
  }
  values.forEach(add)
  return all
}

function addLocations(value: unknown, keys: Keys, locations: JsonLocation[], run: PathRun): void {
  if (typeof value !== 'object' || value === null) return
  const present = keys ?? (Array.isArray(value) ? value.keys() : Object.keys(value))
  for (const key of present) {
    run.visit()
    const at = typeof key === 'number' && key < 0 && Array.isArray(value) ? value.length + key : key
    if (childOf(value, at) !== undefined) locations.push({ parent: value, key: at })
  }
}
