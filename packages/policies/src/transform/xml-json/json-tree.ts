import { type Mapping, XSI } from './mapping.js'
import type { XmlListener } from './xml-reader.js'

/** A JSON value. Objects are maps, so that names such as `__proto__` have no special meaning. */
export type JsonTree = string | number | null | readonly JsonTree[] | JsonMembers
/** Members of a JSON object. */
export type JsonMembers = ReadonlyMap<string, JsonTree>

/** Matches numbers that JSON can represent exactly. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/
const MAX_DIGITS = 15
/** Matches XML white space. */
const BLANK = /^[ \t\r\n]*$/

/** An open element. */
interface Open {
  readonly name: string
  readonly path: string
  readonly members: Map<string, JsonTree[]>
  /** Prefixes bound to the namespace of xsi:nil. */
  readonly nilPrefixes: ReadonlySet<string>
  readonly isNil: boolean
  text: string
  hasElements: boolean
}

const NO_PREFIXES: ReadonlySet<string> = new Set()

/** Builds the JSON of a document while it is parsed. */
export class JsonTreeBuilder implements XmlListener {
  readonly #mapping: Mapping
  readonly #arrays: ReadonlySet<string>
  readonly #stack: Open[] = []
  /** Lists that stay arrays even with one entry. */
  readonly #forced = new Set<JsonTree[]>()
  #result: JsonTree = null

  constructor(mapping: Mapping) {
    this.#mapping = mapping
    this.#arrays = new Set(mapping.forceArray)
  }

  /** The converted document: a map with the root element, or its content. */
  get result(): JsonTree {
    return this.#result
  }

  open(qname: string, attributes: readonly string[]): void {
    const parent = this.#stack.at(-1)
    const name = this.#named(qname)
    const nilPrefixes = nilPrefixesOf(attributes, parent?.nilPrefixes ?? NO_PREFIXES)
    const element: Open = {
      name,
      path: `${parent?.path ?? ''}/${name}`,
      members: new Map(),
      nilPrefixes,
      isNil: this.#mapping.nil && isNil(attributes, nilPrefixes),
      text: '',
      hasElements: false,
    }
    if (!element.isNil) this.#addAttributes(element, attributes)
    this.#stack.push(element)
  }

  text(text: string): void {
    this.#stack.at(-1)!.text += text
  }

  close(): void {
    const element = this.#stack.pop()!
    const parent = this.#stack.at(-1)
    const value = this.#valueOf(element)
    if (parent === undefined) {
      this.#result = this.#mapping.unwrap
        ? value
        : new Map([[element.name, this.#isArray(element) ? [value] : value]])
      return
    }
    parent.hasElements = true
    if (this.#isLeftOut(value)) return
    add(parent.members, element.name, value)
    if (this.#arrays.size > 0 && this.#isArray(element)) this.#forced.add(parent.members.get(element.name)!)
  }

  #isArray({ name, path }: Open): boolean {
    return this.#arrays.has(name) || this.#arrays.has(path)
  }

  #named(qname: string): string {
    return this.#mapping.stripPrefixes ? qname.slice(qname.indexOf(':') + 1) : qname
  }

  #addAttributes(element: Open, attributes: readonly string[]): void {
    const { stripPrefixes, attributePrefix } = this.#mapping
    for (let i = 0; i < attributes.length; i += 2) {
      const name = attributes[i]!
      if (stripPrefixes && isDeclaration(name)) continue
      add(element.members, attributePrefix + this.#named(name), this.#scalar(attributes[i + 1]!))
    }
  }

  #valueOf(element: Open): JsonTree {
    const { members, text, hasElements } = element
    if (element.isNil) return null
    const own = hasElements && BLANK.test(text) ? '' : text
    if (members.size === 0 && !hasElements) return this.#scalar(own)
    if (own !== '') add(members, this.#mapping.textKey, this.#scalar(own))
    const result = new Map<string, JsonTree>()
    for (const [name, values] of members)
      result.set(name, values.length === 1 && !this.#forced.has(values) ? values[0]! : values)
    return result
  }

  #scalar(text: string): JsonTree {
    if (!this.#mapping.hasNumbers || !NUMBER.test(text)) return text
    const digits = text.length - (text[0] === '-' ? 1 : 0) - (text.includes('.') ? 1 : 0)
    return digits <= MAX_DIGITS ? Number(text) : text
  }

  #isLeftOut(value: JsonTree): boolean {
    if (value === null) return this.#mapping.ignoreNull
    return this.#mapping.ignoreEmpty && (value === '' || (value instanceof Map && value.size === 0))
  }
}

function add(members: Map<string, JsonTree[]>, name: string, value: JsonTree): void {
  const values = members.get(name)
  if (values === undefined) members.set(name, [value])
  else values.push(value)
}

function isDeclaration(name: string): boolean {
  return name === 'xmlns' || name.startsWith('xmlns:')
}

function nilPrefixesOf(attributes: readonly string[], inherited: ReadonlySet<string>): ReadonlySet<string> {
  let prefixes = inherited
  for (let i = 0; i < attributes.length; i += 2) {
    const name = attributes[i]!
    if (!name.startsWith('xmlns:')) continue
    const prefix = name.slice('xmlns:'.length)
    if (attributes[i + 1] === XSI) prefixes = new Set([...prefixes, prefix])
    else if (prefixes.has(prefix)) prefixes = new Set([...prefixes].filter((each) => each !== prefix))
  }
  return prefixes
}

function isNilName(name: string, prefixes: ReadonlySet<string>): boolean {
  return prefixes.size > 0 && name.endsWith(':nil') && prefixes.has(name.slice(0, -':nil'.length))
}

/** Returns true if an element has `xsi:nil` and no other attributes. */
function isNil(attributes: readonly string[], prefixes: ReadonlySet<string>): boolean {
  let says = false
  for (let i = 0; i < attributes.length; i += 2) {
    const value = attributes[i + 1]!
    if (isNilName(attributes[i]!, prefixes)) says = value === 'true' || value === '1'
    else if (!isDeclaration(attributes[i]!) || value !== XSI) return false
  }
  return says
}

/** Returns the value as JSON text. */
export function jsonText(value: JsonTree): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const parts: string[] = []
  if (Array.isArray(value)) {
    for (const each of value) parts.push(jsonText(each))
    return `[${parts.join(',')}]`
  }
  for (const [name, each] of value as JsonMembers) parts.push(`${JSON.stringify(name)}:${jsonText(each)}`)
  return `{${parts.join(',')}}`
}
