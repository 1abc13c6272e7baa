import {
  escapedAttribute,
  escapedText,
  rawXml,
  SHORT_BUILDER,
  type XmlPart,
} from '../../engines/xml/xml-builder.js'
import { type Mapping, XSI } from './mapping.js'

/** JSON that cannot be converted to XML. The message is for the client. */
export class NotXml extends Error {}

/** Matches an attribute or element name with at most one colon (Namespaces in XML 1.0). */
const NAME = /^(?:[\p{L}_][\p{L}\p{N}\p{M}_.\-·]*:)?[\p{L}_][\p{L}\p{N}\p{M}_.\-·]*$/u
const MAX_NAME_LENGTH = 1024
/** Matches characters that XML 1.0 does not allow (section 2.2). */
const NOT_CHARACTERS = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u

type Members = Readonly<Record<string, unknown>>

/** Converts a JSON value to an XML document. @throws NotXml if that is impossible */
export function xmlText(value: unknown, mapping: Mapping): string {
  return SHORT_BUILDER.build([new XmlTree(mapping).document(value)])
}

/** Converts JSON to the tree of an XML document. */
class XmlTree {
  readonly #mapping: Mapping
  /** Number of characters that the document will have, at least. */
  #length = 0

  constructor(mapping: Mapping) {
    this.#mapping = mapping
  }

  document(value: unknown): XmlPart {
    const { name, content } = this.#rootOf(value)
    return this.#element(name, content)
  }

  #rootOf(value: unknown): { readonly name: string; readonly content: unknown } {
    const { unwrap, root, item } = this.#mapping
    if (!unwrap) return { name: root, content: Array.isArray(value) ? { [item]: value } : value }
    const names = isObject(value) ? Object.keys(value) : []
    const content = isObject(value) ? value[names[0]!] : undefined
    if (names.length !== 1 || (Array.isArray(content) && content.length !== 1))
      throw new NotXml('must be an object with exactly one member, the root element')
    return { name: checkedName(names[0]!), content: Array.isArray(content) ? content[0] : content }
  }

  #element(name: string, value: unknown): XmlPart {
    this.#count(2 * name.length + '<></>'.length)
    if (value === null && this.#mapping.nil)
      return { [name]: [], ':@': { 'xmlns:xsi': XSI, 'xsi:nil': 'true' } }
    // A nested array becomes an element whose items have the item name.
    if (Array.isArray(value)) return this.#object(name, { [this.#mapping.item]: value })
    if (isObject(value)) return this.#object(name, value)
    return { [name]: [this.#text(value)] }
  }

  #object(name: string, members: Members): XmlPart {
    const { attributePrefix, textKey } = this.#mapping
    let attributes: Record<string, string> | null = null
    const children: XmlPart[] = []
    for (const [key, value] of Object.entries(members)) {
      if (this.#isLeftOut(value)) continue
      if (attributePrefix !== '' && key.startsWith(attributePrefix)) {
        const attribute = checkedName(key.slice(attributePrefix.length))
        // Without a prototype, `__proto__` is a name like any other.
        attributes ??= Object.create(null) as Record<string, string>
        attributes[attribute] = this.#counted(escapedAttribute(scalarText(value)), attribute.length + 4)
      } else if (key === textKey) children.push(this.#text(value))
      else if (Array.isArray(value)) this.#items(checkedName(key), value, children)
      else children.push(this.#element(checkedName(key), value))
    }
    return attributes === null ? { [name]: children } : { [name]: children, ':@': attributes }
  }

  #items(name: string, items: readonly unknown[], children: XmlPart[]): void {
    for (const item of items) if (!this.#isLeftOut(item)) children.push(this.#element(name, item))
  }

  #text(value: unknown): XmlPart {
    return rawXml(this.#counted(escapedText(scalarText(value)), 0))
  }

  #counted(text: string, more: number): string {
    this.#count(text.length + more)
    return text
  }

  /** @throws RangeError before a document beyond its limit is built */
  #count(length: number): void {
    this.#length += length
    if (this.#length > this.#mapping.maxOutputBytes) throw new RangeError('too long')
  }

  #isLeftOut(value: unknown): boolean {
    if (value === null) return this.#mapping.ignoreNull
    if (!this.#mapping.ignoreEmpty) return false
    return value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0)
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkedName(name: string): string {
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name))
    throw new NotXml('has a member whose name is not a valid element or attribute name')
  return name
}

function scalarText(value: unknown): string {
  if (value === null) return ''
  if (typeof value === 'object') throw new NotXml('has an object or array where only text is allowed')
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new NotXml('has an integer that would lose digits: send it as a string')
  const text = String(value)
  if (NOT_CHARACTERS.test(text)) throw new NotXml('has a character that XML does not allow')
  return text
}
