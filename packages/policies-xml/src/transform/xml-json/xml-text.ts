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
  return new XmlWriter(mapping).document(value)
}

class XmlWriter {
  readonly #mapping: Mapping
  readonly #parts: string[] = []
  #length = 0

  constructor(mapping: Mapping) {
    this.#mapping = mapping
  }

  document(value: unknown): string {
    const { name, content } = this.#rootOf(value)
    this.#element(name, content)
    return this.#parts.join('')
  }

  #rootOf(value: unknown): { readonly name: string; readonly content: unknown } {
    const { unwrap, root, item } = this.#mapping
    if (!unwrap) return { name: root, content: Array.isArray(value) ? { [item]: value } : value }
    const names = isObject(value) ? Object.keys(value) : []
    const content = isObject(value) ? value[names[0]!] : undefined
    if (names.length !== 1 || (Array.isArray(content) && content.length !== 1)) {
      throw new NotXml('must be an object with exactly one member, the root element')
    }
    return { name: checkedName(names[0]!), content: Array.isArray(content) ? content[0] : content }
  }

  #write(text: string): void {
    this.#parts.push(text)
    this.#length += text.length
    if (this.#length > this.#mapping.maxOutputBytes) throw new RangeError('too long')
  }

  #element(name: string, value: unknown): void {
    if (value === null && this.#mapping.nil) {
      this.#write(`<${name} xmlns:xsi="${XSI}" xsi:nil="true"/>`)
    } else if (Array.isArray(value)) {
      // A nested array becomes an element whose items have the item name.
      this.#element(name, { [this.#mapping.item]: value })
    } else if (isObject(value)) this.#object(name, value)
    else this.#scalar(name, value)
  }

  #scalar(name: string, value: unknown): void {
    const text = escapedText(scalarText(value))
    this.#write(text === '' ? `<${name}/>` : `<${name}>${text}</${name}>`)
  }

  #object(name: string, members: Members): void {
    const { attributePrefix, textKey } = this.#mapping
    this.#write(`<${name}`)
    const inside: string[] = []
    for (const key of Object.keys(members)) {
      if (attributePrefix !== '' && key.startsWith(attributePrefix)) {
        this.#attribute(checkedName(key.slice(attributePrefix.length)), members[key])
      } else if (!this.#isLeftOut(members[key])) inside.push(key)
    }
    if (inside.length === 0) {
      this.#write('/>')
      return
    }
    this.#write('>')
    for (const key of inside) {
      if (key === textKey) this.#write(escapedText(scalarText(members[key])))
      else this.#member(checkedName(key), members[key])
    }
    this.#write(`</${name}>`)
  }

  #member(name: string, value: unknown): void {
    if (!Array.isArray(value)) this.#element(name, value)
    else for (const each of value) if (!this.#isLeftOut(each)) this.#element(name, each)
  }

  #attribute(name: string, value: unknown): void {
    if (this.#isLeftOut(value)) return
    this.#write(` ${name}="${escapedAttribute(scalarText(value))}"`)
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
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name)) {
    throw new NotXml('has a member whose name is not a valid element or attribute name')
  }
  return name
}

function scalarText(value: unknown): string {
  if (value === null) return ''
  if (typeof value === 'object') throw new NotXml('has an object or array where only text is allowed')
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new NotXml('has an integer that would lose digits: send it as a string')
  }
  const text = String(value)
  if (NOT_CHARACTERS.test(text)) throw new NotXml('has a character that XML does not allow')
  return text
}

function escapedText(text: string): string {
  if (!/[&<>\r]/.test(text)) return text
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;')
}

/** Escapes an attribute value. Unescaped line breaks and tabs would be read as spaces. */
function escapedAttribute(text: string): string {
  return escapedText(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}
