import type { XmlDocument } from 'libxml2-wasm'
import { addressOf, type Libxml, libxml } from '../../engines/xml/libxml.js'
import { type Mapping, XSI } from './mapping.js'

/** Matches numbers that JSON can represent exactly. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/
const MAX_DIGITS = 15
/** Matches XML white space. */
const BLANK = /^[ \t\r\n]*$/

/** JSON texts of the members with one name. A map of them has no special names such as `__proto__`. */
type Members = Map<string, { readonly values: string[]; isArray: boolean }>

/** Converts a document to JSON. It reads the tree of libxml2, so no second parser can interpret it differently. */
export function jsonText(document: XmlDocument, mapping: Mapping): string {
  const root = addressOf(document.root)
  const writer = new JsonWriter(mapping)
  if (mapping.unwrap) return writer.value(root, `/${writer.nameOf(root)}`)
  const members: Members = new Map()
  writer.addElement(root, '', members)
  return objectText(members)
}

/** Writes the JSON of elements, given by their address in libxml2. */
class JsonWriter {
  readonly #mapping: Mapping
  readonly #arrays: ReadonlySet<string>
  readonly #raw: Libxml['raw'] = libxml().raw

  constructor(mapping: Mapping) {
    this.#mapping = mapping
    this.#arrays = new Set(mapping.forceArray)
  }

  /** Returns the name of an element or attribute as written, or without its prefix. */
  nameOf(node: number): string {
    const { XmlNamedNodeStruct, XmlNsStruct } = this.#raw
    const name = XmlNamedNodeStruct.name_(node)
    const namespace = XmlNamedNodeStruct.namespace(node)
    const prefix = namespace === 0 || this.#mapping.stripPrefixes ? '' : XmlNsStruct.prefix(namespace)
    return prefix === '' ? name : `${prefix}:${name}`
  }

  /** Adds an element to the members of its parent. @param parentPath path of the parent, or an empty string. */
  addElement(element: number, parentPath: string, members: Members): void {
    const name = this.nameOf(element)
    const path = `${parentPath}/${name}`
    const value = this.value(element, path)
    if (parentPath !== '' && this.#isLeftOut(value)) return
    add(members, name, value, this.#arrays.has(name) || this.#arrays.has(path))
  }

  value(element: number, path: string): string {
    if (this.#mapping.nil && this.#isNil(element)) return 'null'
    const { XmlNodeStruct, XmlNodeType, xmlNodeGetContent } = this.#raw
    const members: Members = new Map()
    this.#addAttributes(element, members)
    let text = ''
    let hasElements = false
    for (let child = XmlNodeStruct.children(element); child !== 0; child = XmlNodeStruct.next(child)) {
      const type = XmlNodeStruct.type(child)
      if (type === XmlNodeType.XML_TEXT_NODE || type === XmlNodeType.XML_CDATA_SECTION_NODE)
        text += xmlNodeGetContent(child)
      else if (type === XmlNodeType.XML_ELEMENT_NODE) {
        hasElements = true
        this.addElement(child, path, members)
      }
    }
    const own = hasElements && BLANK.test(text) ? '' : text
    if (members.size === 0 && !hasElements) return this.#scalar(own)
    if (own !== '') add(members, this.#mapping.textKey, this.#scalar(own))
    return objectText(members)
  }

  #addAttributes(element: number, members: Members): void {
    const { attributePrefix, stripPrefixes } = this.#mapping
    const { XmlNsStruct, XmlNodeStruct, xmlNodeGetContent } = this.#raw
    if (!stripPrefixes) {
      for (let one = XmlNodeStruct.nsDef(element); one !== 0; one = XmlNsStruct.next(one)) {
        const prefix = XmlNsStruct.prefix(one)
        const name = prefix === '' ? 'xmlns' : `xmlns:${prefix}`
        add(members, attributePrefix + name, this.#scalar(XmlNsStruct.href(one)))
      }
    }
    for (let one = XmlNodeStruct.properties(element); one !== 0; one = XmlNodeStruct.next(one))
      add(members, attributePrefix + this.nameOf(one), this.#scalar(xmlNodeGetContent(one)))
  }

  /** Returns true if an element has `xsi:nil`, and nothing else except the declaration of its prefix. */
  #isNil(element: number): boolean {
    const { XmlNsStruct, XmlNodeStruct, xmlNodeGetContent } = this.#raw
    const only = XmlNodeStruct.properties(element)
    if (only === 0 || XmlNodeStruct.next(only) !== 0 || XmlNodeStruct.name_(only) !== 'nil') return false
    const namespace = XmlNodeStruct.namespace(only)
    if (namespace === 0 || XmlNsStruct.href(namespace) !== XSI) return false
    for (let one = XmlNodeStruct.nsDef(element); one !== 0; one = XmlNsStruct.next(one))
      if (XmlNsStruct.href(one) !== XSI) return false
    return ['true', '1'].includes(xmlNodeGetContent(only))
  }

  #scalar(text: string): string {
    if (!this.#mapping.hasNumbers || !NUMBER.test(text)) return JSON.stringify(text)
    const digits = text.length - (text[0] === '-' ? 1 : 0) - (text.includes('.') ? 1 : 0)
    return JSON.stringify(digits <= MAX_DIGITS ? Number(text) : text)
  }

  #isLeftOut(value: string): boolean {
    if (value === 'null') return this.#mapping.ignoreNull
    return this.#mapping.ignoreEmpty && (value === '""' || value === '{}')
  }
}

function add(members: Members, name: string, value: string, isArray = false): void {
  const member = members.get(name)
  if (member === undefined) members.set(name, { values: [value], isArray })
  else {
    member.values.push(value)
    member.isArray ||= isArray
  }
}

function objectText(members: Members): string {
  const texts: string[] = []
  for (const [name, { values, isArray }] of members) {
    const value = values.length === 1 && !isArray ? values[0]! : `[${values.join(',')}]`
    texts.push(`${JSON.stringify(name)}:${value}`)
  }
  return `{${texts.join(',')}}`
}
