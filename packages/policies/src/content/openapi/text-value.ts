import { decodedForm, decodedUrl, QueryCursor, UnreadableBody } from '@sluice/core'
import type { TextValue } from './parameter.js'
import type { Convert, Shape } from './shape.js'

/** Undecoded texts by name, in the order received. */
export type Pairs = ReadonlyMap<string, readonly string[]>

/** A text that does not have the described syntax. The message gives the reason without the text. */
export class UnreadableText extends Error {}

type Decode = (text: string) => string

/** Rules for converting texts to values. */
export interface TextReading {
  readonly decode: Decode
  readonly convert: Convert
  /** Parses JSON. @throws UnreadableBody for invalid JSON. */
  readonly json: (bytes: Uint8Array) => { readonly value: unknown }
}

/** Marks an allowed empty text in place of a value. */
export const EMPTY = Symbol('empty')

/** Delimiters between the parts of a value, in every spelling that clients use. */
const DELIMITERS = { form: /,/, spaceDelimited: /%20|\+| /, pipeDelimited: /\||%7C/i } as const

/** Maximum nesting of a `deepObject`. */
const MAX_LEVELS = 16

/** Splits name-value pairs such as `a=1&b=2`. */
export function pairsOf(text: string, separator: string, decodeName: Decode): Pairs {
  const pairs = new Map<string, string[]>()
  const cursor = new QueryCursor(separator)
  cursor.read(text)
  while (cursor.advance()) {
    if (cursor.start === cursor.end) continue
    const name = decodeName(cursor.rawName)
    const known = pairs.get(name)
    if (known === undefined) pairs.set(name, [cursor.rawValue])
    else known.push(cursor.rawValue)
  }
  return pairs
}

/** Decodes URL escapes. @throws UnreadableText */
export function decodeUrl(text: string): string {
  return readable(decodedUrl(text))
}

/** Decodes query and form escapes, where a plus is a space. @throws UnreadableText */
export function decodeForm(text: string): string {
  return readable(decodedForm(text))
}

function readable(text: string | null): string {
  if (text === null) throw new UnreadableText('has an escape that is not UTF-8')
  return text
}

/**
 * Reads a value from the pairs of a query, a form or cookies. Returns undefined if it is missing.
 * @throws UnreadableText
 */
export function valueInPairs(of: TextValue, pairs: Pairs, how: TextReading): unknown {
  if (of.style === 'deepObject') return deepObject(of, pairs, how)
  if (of.shape.kind === 'object' && of.isExploded && !of.isJson) return explodedObject(of.shape, pairs, how)
  const texts = pairs.get(of.name)
  if (texts === undefined) return undefined
  if (of.allowsEmpty !== null && texts.length === 1 && texts[0] === '') {
    if (of.allowsEmpty) return EMPTY
    throw new UnreadableText('is empty')
  }
  if (of.shape.kind === 'array' && of.isExploded && !of.isJson) return itemsOf(texts, of.shape, how)
  if (texts.length > 1) throw new UnreadableText('is given more than once')
  const text = texts[0]!
  if (of.isJson) return parsedJson(text, how)
  if (of.shape.kind === 'single') return how.convert(how.decode(text), of.shape.types)
  const parts = text === '' ? [] : text.split(DELIMITERS[of.style as keyof typeof DELIMITERS] ?? ',')
  return of.shape.kind === 'array' ? itemsOf(parts, of.shape, how) : objectOfList(parts, of.shape, how)
}

/** Reads a value from a path segment or a header field. @throws UnreadableText */
export function valueInText(of: TextValue, text: string, how: TextReading): unknown {
  const { shape } = of
  if (of.isJson) return parsedJson(text, how)
  if (of.style === 'matrix') return valueInPairs(of, pairsOf(withoutPrefix(text, ';'), ';', how.decode), how)
  const isLabel = of.style === 'label'
  const plain = isLabel ? withoutPrefix(text, '.') : text
  if (shape.kind === 'single') return how.convert(how.decode(plain), shape.types)
  // White space around a comma in a field does not belong to the items (RFC 9110 section 5.6.1).
  const parts = plain === '' ? [] : plain.split(isLabel && of.isExploded ? '.' : ',').map(withoutBlanks)
  if (shape.kind === 'array') return itemsOf(parts, shape, how)
  if (!of.isExploded) return objectOfList(parts, shape, how)
  const members = parts.map((part): [string, string] => {
    const equals = part.indexOf('=')
    if (equals === -1) throw new UnreadableText('is not a list of name=value')
    return [how.decode(part.slice(0, equals)), part.slice(equals + 1)]
  })
  return objectOf(members, shape, how)
}

/** Trims spaces and tabs. Other white space, such as a no-break space, is part of the value. */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(start, end)
}

/** Reads a form member that no property describes. @throws UnreadableText */
export function undescribedValue(texts: readonly string[], shape: Shape | null, how: TextReading): unknown {
  if (shape?.kind === 'array') return itemsOf(texts, shape, how)
  const values = texts.map((text) => how.convert(how.decode(text), shape?.types ?? new Set()))
  return values.length === 1 ? values[0] : values
}

function withoutPrefix(text: string, prefix: string): string {
  if (!text.startsWith(prefix)) throw new UnreadableText(`does not begin with '${prefix}'`)
  return text.slice(1)
}

function parsedJson(text: string, { json, decode }: TextReading): unknown {
  try {
    return json(Buffer.from(decode(text))).value
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    throw new UnreadableText(error.message.replace(/^the body /, ''))
  }
}

function itemsOf(texts: readonly string[], { rest }: Shape, { decode, convert }: TextReading): unknown[] {
  return texts.map((text) => convert(decode(text), rest!.types))
}

/** Reads an object such as `p[a]=1&p[b][c]=2&p[d][]=3`. */
function deepObject({ name, shape }: TextValue, pairs: Pairs, how: TextReading): unknown {
  const prefix = `${name}[`
  const object: Record<string, unknown> = Object.create(null)
  for (const [key, texts] of pairs) {
    if (!key.startsWith(prefix)) continue
    const path = key.slice(prefix.length, -1).split('][')
    const isWrong = !key.endsWith(']') || path.some((part) => /[[\]]/.test(part)) || path.length > MAX_LEVELS
    if (isWrong) throw new UnreadableText('has a member whose name cannot be read')
    const isList = path.length > 1 && path.at(-1) === ''
    if (isList) path.pop()
    setDeep(object, { path, shape, isList, texts }, how)
  }
  return Object.keys(object).length === 0 ? undefined : object
}

interface DeepMember {
  readonly path: readonly string[]
  readonly shape: Shape
  readonly isList: boolean
  readonly texts: readonly string[]
}

function setDeep(object: Record<string, unknown>, member: DeepMember, how: TextReading): void {
  const { path, isList, texts } = member
  let [holder, shape]: [Record<string, unknown>, Shape | null] = [object, member.shape]
  for (const [i, part] of path.entries()) {
    const known = holder[part]
    shape = shape?.members.get(part) ?? shape?.rest ?? null
    if (i < path.length - 1) {
      if (known !== undefined && (typeof known !== 'object' || Array.isArray(known))) throw duplicateMember()
      holder[part] = known ?? Object.create(null)
      holder = holder[part] as Record<string, unknown>
    } else {
      const isArray = isList || shape?.kind === 'array'
      if (known !== undefined || (texts.length > 1 && !isArray)) throw duplicateMember()
      const types = (isArray ? shape?.rest : shape)?.types ?? new Set()
      const values = texts.map((text) => how.convert(how.decode(text), types))
      holder[part] = isArray ? values : values[0]
    }
  }
}

function duplicateMember(): UnreadableText {
  return new UnreadableText('has a member more than once')
}

function explodedObject(shape: Shape, pairs: Pairs, how: TextReading): unknown {
  const members: [string, string][] = []
  for (const name of shape.members.keys()) {
    const texts = pairs.get(name)
    if (texts === undefined) continue
    if (texts.length > 1) throw duplicateMember()
    members.push([name, texts[0]!])
  }
  return members.length === 0 ? undefined : objectOf(members, shape, how)
}

/** Reads `a,1,b,2` as an object. */
function objectOfList(parts: readonly string[], shape: Shape, how: TextReading): unknown {
  if (parts.length % 2 === 1) throw new UnreadableText('is not a list of names and values')
  const members: [string, string][] = []
  for (let i = 0; i < parts.length; i += 2) members.push([how.decode(parts[i]!), parts[i + 1]!])
  return objectOf(members, shape, how)
}

function objectOf(
  members: readonly (readonly [string, string])[],
  shape: Shape,
  { decode, convert }: TextReading,
): unknown {
  const object: Record<string, unknown> = Object.create(null)
  for (const [name, text] of members) {
    // Parsers disagree about which duplicate wins.
    if (name in object) throw duplicateMember()
    object[name] = convert(decode(text), (shape.members.get(name) ?? shape.rest)?.types ?? new Set())
  }
  return object
}
