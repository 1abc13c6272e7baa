import { asNode, type Node, valueAt } from './node.js'

/** Expected structure of a value that is received as text. */
export interface Shape {
  readonly kind: 'single' | 'array' | 'object'
  /** Allowed types of a single value. Empty if unknown. */
  readonly types: ReadonlySet<string>
  /** Shape of array items or of undescribed object members. Null for a single value. */
  readonly rest: Shape | null
  readonly members: ReadonlyMap<string, Shape>
}

/** Converts a text to a value of one of these types. */
export type Convert = (text: string, types: ReadonlySet<string>) => unknown

const TEXT: Shape = { kind: 'single', types: new Set(), rest: null, members: new Map() }
/** Maximum nesting of shapes and combined schemas. */
const MAX_DEPTH = 8
/** Keywords that apply only to numbers. */
const OF_NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/**
 * JSON number syntax (RFC 8259 section 6). Spellings that only some languages accept, such as `0x7`, `+7` or
 * ` 7`, must not pass.
 */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const INTEGER = /^-?(?:0|[1-9]\d*)$/

/**
 * Converts a text to a number, a boolean or null, if the schema allows that type and the text has its syntax.
 */
export function asTyped(text: string, types: ReadonlySet<string>): unknown {
  if (types.has('number') ? NUMBER.test(text) : types.has('integer') && INTEGER.test(text)) {
    const number = Number(text)
    if (Number.isFinite(number)) return number
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text === '' && types.has('null') ? null : text
}

/** Converts like `asTyped`, but keeps the text if the schema allows strings. */
export function asText(text: string, types: ReadonlySet<string>): unknown {
  return types.has('string') ? text : asTyped(text, types)
}

const NUMBER_CELL = new Float64Array(1)
const BITS_CELL = new BigInt64Array(NUMBER_CELL.buffer)

/**
 * Converts like `asTyped`, but rounds an integer between two doubles the other way. If both values keep a
 * bound, so does the exact integer.
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

/** True if an integer was rounded to a double. */
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
    for (const [name, one] of Object.entries(asNode(properties)))
      members.set(name, shapeOf(root, one, depth + 1))
  }
  const rest = group.map((node) => node[kind === 'array' ? 'items' : 'additionalProperties'])
  const described = rest.find((one) => typeof one === 'object')
  return { kind, types, members, rest: described === undefined ? TEXT : shapeOf(root, described, depth + 1) }
}

/** Returns a schema and all schemas that apply to the same value, with references resolved. */
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

/** Returns the types that a schema names or implies, without those of combined schemas. */
function typesOf(node: Node): string[] {
  const named = [node['type'] ?? []].flat().map(String)
  if (node['nullable'] === true) named.push('null')
  if (named.length > 0) return named
  if (Object.keys(asNode(node['properties'])).length > 0) return ['object']
  const allowed = [node['enum'] ?? [], Object.hasOwn(node, 'const') ? [node['const']] : []].flat(2)
  if (OF_NUMBERS.some((name) => Object.hasOwn(node, name))) return ['number']
  return allowed.map((value) => (value === null ? 'null' : typeof value))
}
