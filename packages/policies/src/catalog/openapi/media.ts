import { FORM_TYPE, isJsonType, mediaType } from '@sluice/core'
import type { Violation } from '../../engines/json-schema/violations.js'
import { asNode, type Entry, eachUnder, type Node, under } from './node.js'
import { shapeOf, textValue } from './parameter.js'
import type { Direction } from './rewrite.js'
import { type Schemas, schemaReference } from './schemas.js'
import { decodeForm, pairsOf, UnreadableText, valueInPairs } from './text-value.js'

/** One media type that a body may have. */
export interface Media {
  /** In lower case: `application/json`, `image/*`, any type. */
  readonly range: string
  /** The schema of a JSON body, which a range may have among others; null: it is not checked. */
  readonly pointer: string | null
  /** Checks a form; null: it is none, or not described. */
  readonly form: ((text: string) => Violation[]) | null
}

/** The media types of a body and their schemas, the most exact first. @throws Error for a schema that cannot be compiled. */
export function mediaOf(
  root: Node,
  content: Entry | null,
  use: { readonly schemas: Schemas; readonly direction: Direction },
): Media[] {
  const media = eachUnder(root, content).map(([written, entry]): Media => {
    const range = mediaType(written)
    const hasSchema = Object.hasOwn(entry.node, 'schema')
    const pointer = hasSchema && (isJsonType(range) || wildness(range) > 0) ? `${entry.pointer}/schema` : null
    if (pointer !== null) use.schemas.prepare(pointer, use.direction)
    const isForm = hasSchema && range === FORM_TYPE
    return { range, pointer, form: isForm ? compileForm(root, entry, use) : null }
  })
  return media.sort((a, b) => wildness(a.range) - wildness(b.range))
}

/** The entry for a message with this type. */
export function mediaFor(media: readonly Media[], type: string): Media | undefined {
  const found = media.find(({ range }) => {
    if (range === type || range === '*/*') return true
    return range.endsWith('/*') && type.startsWith(range.slice(0, -1))
  })
  if (found === undefined || found.pointer === null || isJsonType(type)) return found
  return { ...found, pointer: null }
}

function wildness(range: string): number {
  return range === '*/*' ? 2 : range.endsWith('/*') ? 1 : 0
}

/** A form is read member by member; what the schema does not name comes as one text. */
function compileForm(
  root: Node,
  entry: Entry,
  use: { readonly schemas: Schemas; readonly direction: Direction },
): (text: string) => Violation[] {
  const schema = under(root, entry, 'schema')
  const encoding = under(root, entry, 'encoding')
  const members = shapeOf(root, schema, 4).members.map((name) => {
    const properties = schema === null ? null : under(root, schema, 'properties')
    const holder = { node: { schema: properties?.node[name] }, pointer: '' }
    const encoded = encoding === null ? null : under(root, encoding, name)
    const from = { pointer: '', node: { ...asNode(encoded?.node), ...holder.node } }
    return { ...textValue(root, from, { name, style: 'form' }), schema: {} }
  })
  const known = new Set(members.map(({ name }) => name))
  const check = use.schemas.compileTexts(
    { type: 'object', properties: { body: { $ref: schemaReference(`${entry.pointer}/schema`) } } },
    use.direction,
    '',
  )
  return (text) => {
    try {
      const pairs = pairsOf(text, '&', decodeForm)
      const body: Record<string, unknown> = Object.create(null)
      for (const member of members) {
        const value = valueInPairs(member, pairs, decodeForm)
        if (value !== undefined) body[member.name] = value
      }
      for (const [name, texts] of pairs) if (!known.has(name)) body[name] = decodeForm(texts[0]!)
      return check({ body })
    } catch (error) {
      if (error instanceof UnreadableText) return [`body ${error.message}`]
      throw error
    }
  }
}
