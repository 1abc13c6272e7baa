import { isJsonType, mediaType } from '@sluice/core'
import { childEntries, childEntry, type Entry, type Node } from './node.js'
import { type Shape, shapeOf } from './shape.js'

/** Possible locations of parameters. */
export const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const

/** Location of a parameter. */
export type Location = (typeof LOCATIONS)[number]

/** Serialization style of a value. */
export type Style = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'

/** A value received as text: a parameter, a header field or a form member. */
export interface TextValue {
  readonly name: string
  readonly style: Style
  readonly isExploded: boolean
  readonly isRequired: boolean
  /** True or false if the description says if an empty text is allowed. Null if the schema decides. */
  readonly allowsEmpty: boolean | null
  readonly shape: Shape
  /** True if the text is JSON. */
  readonly isJson: boolean
  /** JSON pointer to the schema, or null if every value is valid. */
  readonly pointer: string | null
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
/** Header fields that OpenAPI describes elsewhere. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

/** Returns the parameters of an operation. Its own override those of the path. */
export function parametersOf(root: Node, path: Entry, operation: Entry): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const entry of [path, operation]) {
    for (const [, one] of childEntries(root, childEntry(root, listAsNode(entry), 'parameters'))) {
      const parameter = parameterOf(root, one)
      if (parameter !== null) found.set(`${parameter.location} ${parameter.name}`, parameter)
    }
  }
  return [...found.values()]
}

/** Returns the parameter list as an object with positions as names. */
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
  const value = textValue(root, entry, { name, style: DEFAULT_STYLE[location] })
  const allowed = entry.node['allowEmptyValue']
  return {
    ...value,
    location,
    allowsEmpty: location === 'query' && typeof allowed === 'boolean' ? allowed : null,
  }
}

/** Returns the text value that a parameter, a header or a form encoding describes. */
export function textValue(
  root: Node,
  entry: Entry,
  { name, style: defaultStyle }: { readonly name: string; readonly style: Style },
): TextValue {
  const style = (entry.node['style'] as Style | undefined) ?? defaultStyle
  const [content] = childEntries(root, childEntry(root, entry, 'content'))
  const holder = content?.[1] ?? entry
  const explode = entry.node['explode']
  return {
    name,
    style,
    isExploded: typeof explode === 'boolean' ? explode : style === 'form',
    isRequired: entry.node['required'] === true,
    allowsEmpty: null,
    isJson: content !== undefined && isJsonType(mediaType(content[0])),
    pointer: Object.hasOwn(holder.node, 'schema') ? `${holder.pointer}/schema` : null,
    shape: shapeOf(root, holder.node['schema']),
  }
}

/** True if a query or form name belongs to this value. */
export function ownsName({ name, style, shape, isExploded, isJson }: TextValue, given: string): boolean {
  if (style === 'deepObject') return given.startsWith(`${name}[`)
  return shape.kind === 'object' && isExploded && !isJson ? shape.members.has(given) : given === name
}
