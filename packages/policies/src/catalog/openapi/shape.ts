import { asNode, type Node, valueAt } from './node.js'

/** The value that a text stands for, as far as a schema says. */
export interface Shape {
  readonly kind: 'single' | 'array' | 'object'
  /** Types of a single value; none says nothing. */
  readonly types: ReadonlySet<string>
  /** Shape of the items of an array, and of the members of an object that are not described; null for a single value. */
  readonly rest: Shape | null
  readonly members: ReadonlyMap<string, Shape>
}

/** Converts a text to a value of one of these types. */
export type Convert = (text: string, types: ReadonlySet<string>) => unknown

const TEXT: Shape = { kind: 'single', types: new Set(), rest: null, members: new Map() }
/** Deepest search for shapes within shapes and within combined schemas. */
const MAX_DEPTH = 8
/** Keywords that only numbers can violate. */
const OF_NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/** RFC 8259 section 6. Spellings that only some languages read, such as `0x7`, `+7` or ` 7`, must not pass as numbers. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const INTEGER = /^-?(?:0|[1-9]\d*)$/

/** Converts a text to a number, a truth value or null where a schema allows one and the text is written like one. */
export function asTyped(text: string, types: ReadonlySet<string>): unknown {
  if (types.has('number') ? NUMBER.test(text) : types.has('integer') && INTEGER.test(text)) {
    const number = Number(text)
    if (Number.isFinite(number)) return number
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text === '' && types.has('null') ? null : text
}

/** The same, but a text stays one where a schema allows texts too. */
export function asText(text: string, types: ReadonlySet<string>): unknown {
  return types.has('string') ? text : asTyped(text, types)
}

const NUMBER_CELL = new Float64Array(1)
const BITS_CELL = new BigInt64Array(NUMBER_CELL.buffer)

/**
 * Converts like `asTyped`, but a whole number between two doubles becomes the one that `asTyped` did not take: a bound
 * that both keep is kept by the number as it is written.
 */
export function asNeighbour(text: string, types: ReadonlySet<string>): unknown {
  const value = asTyped(text, types)
  if (!isRounded(text, value)) return value
  const written = BigInt(text)
  const isTowardsZero = value < 0 ? written > BigInt(value) : written < BigInt(value)
  NUMBER_CELL[0] = value
  BITS_CELL[0]! += isTowardsZero ? -1n : 1n
  return NUMBER_CELL[0]
}

/** True if a value is a whole number that is not the one that was written. */
export function isRounded(text: string, value: unknown): value is number {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return false
  return INTEGER.test(text) && BigInt(text) !== BigInt(value)
}

/** Returns the shape of the values that a schema describes. */
export function shapeOf(root: Node, schema: unknown, depth = 0): Shape {
  if (depth > MAX_DEPTH) return TEXT
  const group = [...sameValue(root, asNode(schema))]
  const types = new Set(group.flatMap(typesOf))
  const kind = types.has('array') ? 'array' : types.has('object') ? 'object' : 'single'
  if (kind === 'single') return { ...TEXT, types }
  const members = new Map<string, Shape>()
  for (const { properties } of group) {
    for (const [name, one] of Object.entries(asNode(properties))) {
      members.set(name, shapeOf(root, one, depth + 1))
    }
  }
  const rest = group.map((node) => node[kind === 'array' ? 'items' : 'additionalProperties'])
  const described = rest.find((one) => typeof one === 'object')
  return { kind, types, members, rest: described === undefined ? TEXT : shapeOf(root, described, depth + 1) }
}

/** A schema and those that it applies to the same value, through references too. */
function sameValue(root: Node, node: Node, found = new Set<Node>()): Set<Node> {
  if (found.has(node)) return found
  found.add(node)
  const { $ref: reference } = node
  if (typeof reference === 'string') sameValue(root, asNode(valueAt(root, reference)), found)
  for (const name of ['allOf', 'oneOf', 'anyOf']) {
    const list = node[name]
    if (Array.isArray(list)) for (const one of list) sameValue(root, asNode(one), found)
  }
  return found
}

/** The types that a schema names or implies, without those that it combines. */
function typesOf(node: Node): string[] {
  const named = [node['type'] ?? []].flat().map(String)
  if (node['nullable'] === true) named.push('null')
  if (named.length > 0) return named
  if (Object.keys(asNode(node['properties'])).length > 0) return ['object']
  const allowed = [node['enum'] ?? [], Object.hasOwn(node, 'const') ? [node['const']] : []].flat(2)
  if (OF_NUMBERS.some((name) => Object.hasOwn(node, name))) return ['number']
  return allowed.map((value) => (value === null ? 'null' : typeof value))
}
