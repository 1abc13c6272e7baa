import type { JsonPathQuery } from 'jsonpath-rfc9535/parser'
import { childOf } from './child.js'
import { parseQuery } from './path.js'
import { PathRun } from './path-run.js'

/** A member of an object or an element of an array, with its parent so that it can be changed. */
export interface JsonLocation {
  readonly parent: object
  readonly key: string | number
}

/** A JSON path that finds locations to change. */
export interface JsonLocations {
  /** Returns all matching locations. @throws UnreadableBody if the path would visit too many values. */
  all(root: unknown): readonly JsonLocation[]
}

type Segment = JsonPathQuery['segments'][number]
/** Children that a segment selects, or null for all of them. */
type Keys = readonly (string | number)[] | null

/**
 * Compiles a JSON path whose matches are to be changed. It may use names, positions, `*` and `..`.
 * @throws Error that says what is wrong with the path.
 */
export function compileJsonLocations(path: string): JsonLocations {
  const { segments } = parseQuery(path)
  if (segments.length === 0) throw new Error(`'${path}' selects the whole body; name a member, such as $.id`)
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

/** Returns the value at a location. */
export function valueAt({ parent, key }: JsonLocation): unknown {
  return childOf(parent, key)
}

/** Replaces the value at a location. Inherited properties stay out of reach. */
export function setAt({ parent, key }: JsonLocation, value: unknown): void {
  if (Object.hasOwn(parent, key)) (parent as Record<string | number, unknown>)[key] = value
}

/** Removes members and elements, also several elements of one array. */
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

/** Calls `visit` for every member and element of a value at any depth. The depth of the value must be limited. */
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
    if (selector.type !== 'NameSelector' && selector.type !== 'IndexSelector')
      throw new Error(`'${path}' has a slice or a filter; use only names, positions, * and ..`)
    keys.push(selector.value)
  }
  return [...new Set(keys)]
}

/** Returns the values and all their descendants, each only once even if some of them contain others. */
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
