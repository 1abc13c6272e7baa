import { parseDictionary, parseItem, parseList } from './parser.js'
import {
  type BareItem,
  type Dictionary,
  type FieldShape,
  type InnerList,
  type Item,
  isInnerList,
  type Member,
  type Parameters,
} from './structured-field.js'

/** Returns the canonical form of a field (RFC 9651 section 4.1), or null if it does not have this shape. */
export function reserialized(text: string, shape: FieldShape): string | null {
  if (shape === 'item') {
    const item = parseItem(text)
    return item === null ? null : serializeItem(item)
  }
  if (shape === 'list') return parseList(text)?.map(serializeMember).join(', ') ?? null
  const dictionary = parseDictionary(text)
  return dictionary === null ? null : serializeDictionary(dictionary)
}

/** Serializes a dictionary. */
export function serializeDictionary(dictionary: Dictionary): string {
  return [...dictionary].map(([key, member]) => key + afterKey(member)).join(', ')
}

/** Serializes the part after a key. A value "true" is omitted. */
function afterKey(member: Member): string {
  if (!isInnerList(member) && member.item.type === 'boolean' && member.item.value)
    return serializeParameters(member.parameters)
  return `=${serializeMember(member)}`
}

/** Serializes a member. */
export function serializeMember(member: Member): string {
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member)
}

/** Serializes an inner list. */
export function serializeInnerList({ items, parameters }: InnerList): string {
  return `(${items.map(serializeItem).join(' ')})${serializeParameters(parameters)}`
}

/** Serializes an item. */
export function serializeItem({ item, parameters }: Item): string {
  return serializeBareItem(item) + serializeParameters(parameters)
}

function serializeParameters(parameters: Parameters): string {
  let text = ''
  for (const [key, value] of parameters) {
    text += `;${key}`
    if (value.type !== 'boolean' || !value.value) text += `=${serializeBareItem(value)}`
  }
  return text
}

function serializeBareItem(item: BareItem): string {
  switch (item.type) {
    case 'integer':
      return String(item.value)
    case 'decimal':
      return Number.isInteger(item.value) ? `${item.value}.0` : String(item.value)
    case 'date':
      return `@${item.value}`
    case 'string':
      return `"${item.value.replaceAll(/["\\]/g, '\\$&')}"`
    case 'token':
      return item.value
    case 'bytes':
      return `:${item.value.toString('base64')}:`
    case 'boolean':
      return item.value ? '?1' : '?0'
  }
}
