import { asNode, type Entry, eachUnder, type Node, resolved, under } from './node.js'
import { schemaReference } from './schemas.js'

/** Where parameters stand. */
export const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const

/** One of the entries of parameters. */
export type Location = (typeof LOCATIONS)[number]

/** How a value becomes text. */
export type Style = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'

/** A value that comes as text: a parameter, a header field, or a member of a form. */
export interface TextValue {
  readonly name: string
  readonly style: Style
  readonly isExploded: boolean
  readonly isRequired: boolean
  readonly shape: 'single' | 'array' | 'object'
  /** Names of the members of an object. */
  readonly members: readonly string[]
  /** The text is JSON. */
  readonly isJson: boolean
  /** Its schema; an empty one accepts everything. */
  readonly schema: object
}

/** A parameter of an operation. */
export interface Parameter extends TextValue {
  readonly location: Location
}

const DEFAULT_STYLE: Readonly<Record<Location, Style>> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}
/** Header fields that OpenAPI leaves to other parts of a description. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])
/** How deep combined schemas are searched for the shape of a value. */
const MAX_SEARCH = 8

/** The parameters of an operation: those of its path, and its own in their place. */
export function parametersOf(root: Node, path: Entry, operation: Entry): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const entry of [path, operation]) {
    for (const [, one] of eachUnder(root, under(root, listAsNode(entry), 'parameters'))) {
      const parameter = parameterOf(root, one)
      if (parameter !== null) found.set(`${parameter.location} ${parameter.name}`, parameter)
    }
  }
  return [...found.values()]
}

/** Lists are walked as objects whose names are positions. */
function listAsNode({ node, pointer }: Entry): Entry {
  const list = node['parameters']
  return {
    pointer,
    node: Array.isArray(list) ? { parameters: Object.fromEntries(Object.entries(list)) } : {},
  }
}

function parameterOf(root: Node, entry: Entry): Parameter | null {
  const location = entry.node['in'] as Location
  const written = String(entry.node['name'])
  const name = location === 'header' ? written.toLowerCase() : written
  if (location === 'header' && IGNORED_HEADERS.has(name)) return null
  return { location, ...textValue(root, entry, { name, style: DEFAULT_STYLE[location] }) }
}

/** The value that a parameter object, a header object or the encoding of a form member describes. */
export function textValue(
  root: Node,
  entry: Entry,
  { name, style: defaultStyle }: { readonly name: string; readonly style: Style },
): TextValue {
  const style = (entry.node['style'] as Style | undefined) ?? defaultStyle
  const [content] = eachUnder(root, under(root, entry, 'content'))
  // What stands at the schema is not resolved: the compiler follows references itself.
  const holder = content?.[1] ?? entry
  const hasSchema = Object.hasOwn(holder.node, 'schema')
  const explode = entry.node['explode']
  return {
    name,
    style,
    isExploded: typeof explode === 'boolean' ? explode : style === 'form',
    isRequired: entry.node['required'] === true,
    isJson: content !== undefined && /json/i.test(content[0]),
    schema: hasSchema ? { $ref: schemaReference(`${holder.pointer}/schema`) } : {},
    ...shapeOf(root, hasSchema ? under(root, holder, 'schema') : null, MAX_SEARCH),
  }
}

type Shape = Pick<TextValue, 'shape' | 'members'>
const SINGLE: Shape = { shape: 'single', members: [] }

/** What kind of value a schema describes, as far as it says. */
export function shapeOf(root: Node, schema: Entry | null, left: number): Shape {
  if (schema === null || left === 0) return SINGLE
  const types = [schema.node['type']].flat()
  const members = Object.keys(asNode(schema.node['properties']))
  if (types.includes('array')) return { shape: 'array', members: [] }
  if (types.includes('object') || members.length > 0) return { shape: 'object', members }
  for (const combined of ['allOf', 'oneOf', 'anyOf']) {
    const parts = schema.node[combined]
    if (!Array.isArray(parts)) continue
    for (const part of parts) {
      const shape = shapeOf(root, resolved(root, { node: asNode(part), pointer: schema.pointer }), left - 1)
      if (shape !== SINGLE) return shape
    }
  }
  return SINGLE
}
