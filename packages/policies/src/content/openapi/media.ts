import { FORM_TYPE, isJsonType, mediaType } from '@sluice/core'
import type { Violation } from '../../engines/json-schema/violations.js'
import { childEntries, childEntry, type Entry, type Node } from './node.js'
import { ownsName, type TextValue, textValue } from './parameter.js'
import type { Direction } from './rewrite.js'
import type { SchemaSource, ValueSchema } from './schemas.js'
import { shapeOf } from './shape.js'
import { violationsAsText } from './text-check.js'
import { decodeForm, pairsOf, undescribedValue, valueInPairs } from './text-value.js'

/** A media type that a body may have. */
export interface Media {
  /** Media range in lower case, such as `application/json`, `image/*` or any. */
  readonly range: string
  /** JSON pointer to the schema of a JSON body. Null if the body is not checked. */
  readonly pointer: string | null
  /** The compiled schema at `pointer`. */
  readonly schema: ValueSchema
  /** Checks a form. Null if the media type is not a form or has no schema. */
  readonly form: ((text: string) => Violation[]) | null
}

/**
 * Returns the media types of a body with their schemas, most specific first.
 * @throws Error for an invalid schema.
 */
export function mediaOf(
  root: Node,
  content: Entry | null,
  use: { readonly schemas: SchemaSource; readonly direction: Direction },
): Media[] {
  const media = childEntries(root, content).map(([written, entry]): Media => {
    const range = mediaType(written)
    const hasSchema = Object.hasOwn(entry.node, 'schema')
    const pointer = hasSchema && (isJsonType(range) || wildness(range) > 0) ? `${entry.pointer}/schema` : null
    const schema = pointer === null ? null : use.schemas.at(pointer, use.direction)
    const isForm = hasSchema && range === FORM_TYPE
    return { range, pointer, schema, form: isForm ? compileForm(root, entry, use) : null }
  })
  return media.sort((a, b) => wildness(a.range) - wildness(b.range))
}

/** Returns the entry that matches the media type of a message. */
export function mediaFor(media: readonly Media[], type: string): Media | undefined {
  const found = media.find(({ range }) => {
    if (range === type || range === '*/*') return true
    return range.endsWith('/*') && type.startsWith(range.slice(0, -1))
  })
  if (found === undefined || found.pointer === null || isJsonType(type)) return found
  return { ...found, pointer: null, schema: null }
}

function wildness(range: string): number {
  return range === '*/*' ? 2 : range.endsWith('/*') ? 1 : 0
}

/**
 * Compiles a check that reads a form member by member. A member without a schema is a string or a list of
 * strings.
 */
function compileForm(
  root: Node,
  entry: Entry,
  { schemas, direction }: { readonly schemas: SchemaSource; readonly direction: Direction },
): (text: string) => Violation[] {
  const shape = shapeOf(root, entry.node['schema'])
  const encoding = childEntry(root, entry, 'encoding')
  const members = [...shape.members].map(([name, of]): TextValue => {
    const encoded = (encoding && childEntry(root, encoding, name)) ?? { node: {}, pointer: '' }
    const isJson = isJsonType(mediaType(String(encoded.node['contentType'] ?? '')))
    return { ...textValue(root, encoded, { name, style: 'form' }), isJson, shape: of }
  })
  const schema = schemas.at(`${entry.pointer}/schema`, direction)
  const json = (bytes: Uint8Array) => schemas.parse(bytes)
  return (text) =>
    violationsAsText((convert) => {
      const pairs = pairsOf(text, '&', decodeForm)
      const how = { decode: decodeForm, convert, json }
      const body: Record<string, unknown> = Object.create(null)
      for (const member of members) {
        const value = valueInPairs(member, pairs, how)
        if (value !== undefined) body[member.name] = value
      }
      for (const [name, texts] of pairs) {
        if (!members.some((member) => ownsName(member, name)))
          body[name] = undescribedValue(texts, shape.rest, how)
      }
      return schemas.check(schema, body, 'body')
    }, 'body')
}
