import { decodedForm, decodedUrl, QueryCursor } from '@sluice/core'
import type { TextValue } from './parameter.js'

/** Texts by name, in the order they were given, as they were written. */
export type Pairs = ReadonlyMap<string, readonly string[]>

/** A text that cannot be read as the description says; the message says why, without the text. */
export class UnreadableText extends Error {}

type Decode = (text: string) => string

/** Characters between the parts of a value; all spellings that clients use. */
const DELIMITERS = {
  form: /,/,
  spaceDelimited: /%20|\+| /,
  pipeDelimited: /\||%7C/i,
} as const

/** Splits `a=1&b=2`. */
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

/** Escapes of a URL. @throws UnreadableText */
export function decodeUrl(text: string): string {
  return readable(decodedUrl(text))
}

/** Escapes of a query or a form, where a plus is a space. @throws UnreadableText */
export function decodeForm(text: string): string {
  return readable(decodedForm(text))
}

function readable(text: string | null): string {
  if (text === null) throw new UnreadableText('has an escape that is not UTF-8')
  return text
}

/** A value among pairs: in a query, a form, cookies. Undefined: there is none. @throws UnreadableText */
export function valueInPairs(of: TextValue, pairs: Pairs, decode: Decode): unknown {
  if (of.style === 'deepObject') return deepObject(of.name, pairs, decode)
  if (of.shape === 'object' && of.isExploded && !of.isJson) return explodedObject(of, pairs, decode)
  const texts = pairs.get(of.name)
  if (texts === undefined) return undefined
  if (of.shape === 'array' && of.isExploded && !of.isJson) return texts.map(decode)
  if (texts.length > 1) throw new UnreadableText('is given more than once')
  const text = texts[0]!
  if (of.isJson) return parsedJson(decode(text))
  if (of.shape === 'single') return decode(text)
  const parts = text === '' ? [] : text.split(DELIMITERS[of.style as keyof typeof DELIMITERS] ?? ',')
  return of.shape === 'array' ? parts.map(decode) : objectOfList(parts.map(decode))
}

/** A value that stands alone: in a path or a header field. @throws UnreadableText */
export function valueInText(of: TextValue, text: string, decode: Decode): unknown {
  if (of.isJson) return parsedJson(decode(text))
  if (of.style === 'matrix') return valueInPairs(of, pairsOf(withoutPrefix(text, ';'), ';', decode), decode)
  const isLabel = of.style === 'label'
  const plain = isLabel ? withoutPrefix(text, '.') : text
  if (of.shape === 'single') return decode(plain)
  const parts = plain === '' ? [] : plain.split(isLabel && of.isExploded ? '.' : /, ?/)
  if (of.shape === 'array') return parts.map(decode)
  if (!of.isExploded) return objectOfList(parts.map(decode))
  return objectOf(
    parts.map((part) => {
      const equals = part.indexOf('=')
      if (equals === -1) throw new UnreadableText('is not a list of name=value')
      return [decode(part.slice(0, equals)), decode(part.slice(equals + 1))]
    }),
  )
}

function withoutPrefix(text: string, prefix: string): string {
  if (!text.startsWith(prefix)) throw new UnreadableText(`does not begin with '${prefix}'`)
  return text.slice(1)
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableText('is not JSON')
  }
}

function deepObject(name: string, pairs: Pairs, decode: Decode): unknown {
  const members: [string, string][] = []
  for (const [key, texts] of pairs) {
    if (!key.startsWith(`${name}[`) || !key.endsWith(']')) continue
    if (texts.length > 1) throw new UnreadableText('has a member more than once')
    members.push([key.slice(name.length + 1, -1), decode(texts[0]!)])
  }
  return members.length === 0 ? undefined : objectOf(members)
}

function explodedObject({ members: names }: TextValue, pairs: Pairs, decode: Decode): unknown {
  const members: [string, string][] = []
  for (const name of names) {
    const texts = pairs.get(name)
    if (texts === undefined) continue
    if (texts.length > 1) throw new UnreadableText('has a member more than once')
    members.push([name, decode(texts[0]!)])
  }
  return members.length === 0 ? undefined : objectOf(members)
}

/** `a,1,b,2` as an object. */
function objectOfList(parts: readonly string[]): unknown {
  if (parts.length % 2 === 1) throw new UnreadableText('is not a list of names and values')
  const members: [string, string][] = []
  for (let i = 0; i < parts.length; i += 2) members.push([parts[i]!, parts[i + 1]!])
  return objectOf(members)
}

function objectOf(members: readonly (readonly [string, string])[]): unknown {
  const object: Record<string, string> = Object.create(null)
  for (const [name, text] of members) object[name] = text
  return object
}
