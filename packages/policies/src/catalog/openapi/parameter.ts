import { isJsonType, mediaType } from '@sluice/core'
import { type Entry, eachUnder, type Node, under } from './node.js'
import { type Shape, shapeOf } from './shape.js'

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
  /** True or false where the description says whether an empty text may stand for the value; null: its schema decides. */
  readonly allowsEmpty: boolean | null
  readonly shape: Shape
  /** The text is JSON. */
  readonly isJson: boolean
  /** Pointer to its schema; null accepts everything. */
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
/** Header fields that OpenAPI leaves to other parts of a description. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

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
  const value = textValue(root, entry, { name, style: DEFAULT_STYLE[location] })
  const allowed = entry.node['allowEmptyValue']
  return {
    ...value,
    location,
    allowsEmpty: location === 'query' && typeof allowed === 'boolean' ? allowed : null,
  }
}

/** The value that a parameter object, a header object or the encoding of a form member describes. */
export function textValue(
  root: Node,
  entry: Entry,
  { name, style: defaultStyle }: { readonly name: string; readonly style: Style },
): TextValue {
  const style = (entry.node['style'] as Style | undefined) ?? defaultStyle
  const [content] = eachUnder(root, under(root, entry, 'content'))
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

/** True if a name in a query or a form belongs to this value. */
export function ownsName({ name, style, shape, isExploded, isJson }: TextValue, given: string): boolean {
  if (style === 'deepObject') return given.startsWith(`${name}[`)
  return shape.kind === 'object' && isExploded && !isJson ? shape.members.has(given) : given === name
}
