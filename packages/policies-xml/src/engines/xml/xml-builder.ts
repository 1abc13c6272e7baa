import { XMLBuilder } from 'fast-xml-parser'

/** An element with its content, or a text, in the form that XMLBuilder reads. */
export type XmlPart = Readonly<Record<string, unknown>>

/** Escapes nothing but quotes: texts and attribute values come escaped, and callers limit the depth. */
const OPTIONS = {
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  suppressBooleanAttributes: false,
  processEntities: false,
  maxNestedTags: 0,
} as const
const BUILDER = new XMLBuilder(OPTIONS)

/** Writes empty elements as self-closing. */
export const SHORT_BUILDER = new XMLBuilder({ ...OPTIONS, suppressEmptyNode: true })

/** Creates an element. Attribute values and a string as content are escaped. */
export function element(
  name: string,
  content: string | readonly XmlPart[],
  attributes?: Readonly<Record<string, string>>,
): XmlPart {
  const children = typeof content === 'string' ? [rawXml(escapedText(content))] : content
  if (attributes === undefined) return { [name]: children }
  const values = Object.entries(attributes).map(([key, value]) => [key, escapedAttribute(value)])
  return { [name]: children, ':@': Object.fromEntries(values) }
}

/** Creates a part from text that is XML already. */
export function rawXml(text: string): XmlPart {
  return { '#text': text }
}

/** Returns the XML of the parts. Empty elements have a closing tag, as in canonical XML. */
export function buildXml(...parts: readonly XmlPart[]): string {
  return BUILDER.build(parts)
}

/** Escapes text as in canonical XML. */
export function escapedText(text: string): string {
  if (!/[&<>\r]/.test(text)) return text
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;')
}

/** Escapes an attribute value, but for quotes. Unescaped line breaks and tabs would be read as spaces. */
export function escapedAttribute(text: string): string {
  return escapedText(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}
