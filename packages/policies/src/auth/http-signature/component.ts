import { decodedForm, isToken, QueryCursor, trimOws } from '@sluice/core'
import type { RequestFacts } from '../../shared/message/request-facts.js'
import { parseDictionary } from '../../shared/structured-field/parser.js'
import { reserialized, serializeItem, serializeMember } from '../../shared/structured-field/serializer.js'
import type { FieldShape, Item, Parameters } from '../../shared/structured-field/structured-field.js'

const cursor = new QueryCursor()

/**
 * Returns the value of a query parameter for `@query-param` (RFC 9421 section 2.2.8): decoded as form data
 * and encoded again. Returns null if it is absent, repeated or wrongly encoded. Two different queries must
 * not have the same value.
 * @param name encoded name.
 */
export function queryParameter(query: string, name: string): string | null {
  let found: string | null = null
  cursor.read(query)
  while (cursor.advance()) {
    if (cursor.start === cursor.end || reencoded(cursor.rawName) !== name) continue
    if (found !== null) return null
    found = reencoded(cursor.rawValue)
    if (found === null) return null
  }
  return found
}

function reencoded(text: string): string | null {
  const plain = decodedForm(text)
  if (plain === null) return null
  return encodeURIComponent(plain).replaceAll(
    /[!'()~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The message to sign or verify: a request, or a response with its request. */
export interface SignedMessage {
  readonly request: RequestFacts
  /** The response, or null if the request is signed. */
  readonly response: ResponseFacts | null
}

/** Status and header fields of a response. */
export interface ResponseFacts {
  readonly status: number
  lines(name: string): readonly string[]
}

/** A message component that a signature covers. */
export interface Component {
  /** Identifier in the signature base: `"@query-param";name="id"`. */
  readonly id: string
  /** Normalised identifier, which does not depend on the order of parameters. */
  readonly key: string
  /** Returns the value, or null if the message does not have it or it cannot be read. */
  read(message: SignedMessage): string | null
}

type MessageKind = 'request' | 'response'

/** Structured types of registered fields, for `sf`. */
export type FieldShapes = ReadonlyMap<string, FieldShape>

const REGISTERED_SHAPES: readonly (readonly [string, FieldShape])[] = [
  ['accept-signature', 'dictionary'],
  ['cache-status', 'list'],
  ['cdn-cache-control', 'dictionary'],
  ['client-cert', 'item'],
  ['client-cert-chain', 'list'],
  ['content-digest', 'dictionary'],
  ['priority', 'dictionary'],
  ['proxy-status', 'list'],
  ['repr-digest', 'dictionary'],
  ['signature', 'dictionary'],
  ['signature-input', 'dictionary'],
  ['want-content-digest', 'dictionary'],
  ['want-repr-digest', 'dictionary'],
]

/** Returns the known field types plus the configured ones. */
export function fieldShapes(more: Readonly<Record<string, FieldShape>>): FieldShapes {
  return new Map([
    ...REGISTERED_SHAPES,
    ...Object.entries(more).map(([name, shape]) => [name.toLowerCase(), shape] as const),
  ])
}

const DERIVED: Readonly<Record<string, (request: RequestFacts) => string>> = {
  '@method': (request) => request.method,
  '@target-uri': (request) => `${request.scheme}://${request.authority}${targetOf(request)}`,
  '@authority': (request) => request.authority,
  '@scheme': (request) => request.scheme,
  '@request-target': targetOf,
  '@path': (request) => request.path,
  '@query': (request) => `?${request.query}`,
}

function targetOf({ path, query, hasEmptyQuery }: RequestFacts): string {
  return query === '' && !hasEmptyQuery ? path : `${path}?${query}`
}

/** Compiles a component. Returns an error message if the identifier is invalid. */
export function compileComponent(item: Item, kind: MessageKind, shapes: FieldShapes): Component | string {
  const id = serializeItem(item)
  if (item.item.type !== 'string') return `${id} is not a component identifier, which must be a string`
  const name = item.item.value
  const read = name.startsWith('@')
    ? derived(name, item.parameters, kind)
    : field(name, item.parameters, kind, shapes)
  if (typeof read === 'string') return `component ${id}: ${read}`
  return { id, key: keyOf(name, item.parameters), read }
}

function keyOf(name: string, parameters: Parameters): string {
  const sorted = new Map([...parameters].sort(([a], [b]) => (a < b ? -1 : 1)))
  return serializeItem({ item: { type: 'string', value: name }, parameters: sorted })
}

type Read = Component['read']

function derived(name: string, parameters: Parameters, kind: MessageKind): Read | string {
  const isOfRequest = isSet(parameters, 'req')
  const unknown = [...parameters.keys()].find(
    (parameter) => parameter !== 'req' && !(parameter === 'name' && name === '@query-param'),
  )
  if (unknown !== undefined) return `the parameter '${unknown}' is not supported here`
  if (isOfRequest === null) return "'req' must not have a value"
  if (kind === 'request' && isOfRequest) return "'req' is only for signatures of responses"
  if (name === '@status') {
    if (kind === 'request' || isOfRequest) return 'only a response has a status'
    return ({ response }) => String(response!.status)
  }
  if (kind === 'response' && !isOfRequest)
    return "it belongs to the request; add ';req' to use it in the signature of a response"
  if (name === '@query-param') {
    const parameter = parameters.get('name')
    if (parameter?.type !== 'string') return "it requires the parameter 'name'"
    return ({ request }) => queryParameter(request.query, parameter.value)
  }
  const value = Object.hasOwn(DERIVED, name) ? DERIVED[name]! : null
  return value === null ? 'it is not supported' : ({ request }) => value(request)
}

const FLAGS = ['sf', 'bs', 'req', 'tr'] as const

function field(name: string, parameters: Parameters, kind: MessageKind, shapes: FieldShapes): Read | string {
  if (!isToken(name) || name !== name.toLowerCase()) return 'it is not a field name in lower case'
  const unknown = [...parameters.keys()].find((parameter) => parameter !== 'key' && !isFlag(parameter))
  if (unknown !== undefined) return `the parameter '${unknown}' is not supported`
  const [sf, bs, req, tr] = FLAGS.map((flag) => isSet(parameters, flag))
  if (sf === null || bs === null || req === null || tr === null)
    return "'sf', 'bs', 'req' and 'tr' must not have a value"
  if (tr) return "trailer fields ('tr') are not supported"
  if (req && kind === 'request') return "'req' is only for signatures of responses"
  const key = parameters.get('key')
  if (key !== undefined && key.type !== 'string') return "'key' must be a string"
  if (bs && (sf || key !== undefined)) return "'bs' cannot be combined with 'sf' or 'key'"
  const form =
    key !== undefined
      ? memberForm(key.value as string)
      : bs
        ? wrapped
        : sf
          ? strictForm(name, shapes)
          : combined
  if (typeof form === 'string') return form
  return ({ request, response }) => {
    const lines = (req || response === null ? request : response).lines(name)
    return lines.length === 0 ? null : form(lines)
  }
}

function isFlag(parameter: string): boolean {
  return FLAGS.some((flag) => flag === parameter)
}

/** Returns true if the flag is set, false if it is absent, and null if it has another value. */
function isSet(parameters: Parameters, name: string): boolean | null {
  const parameter = parameters.get(name)
  if (parameter === undefined) return false
  return parameter.type === 'boolean' && parameter.value ? true : null
}

type Form = (lines: readonly string[]) => string | null

/** Joins several lines into one value (RFC 9421 section 2.1). */
const combined: Form = (lines) => lines.map(trimOws).join(', ')

const wrapped: Form = (lines) =>
  lines.map((line) => `:${Buffer.from(trimOws(line), 'latin1').toString('base64')}:`).join(', ')

function strictForm(name: string, shapes: FieldShapes): Form | string {
  const shape = shapes.get(name)
  if (shape === undefined) return `'sf' needs the type of the field '${name}'; set it in structuredFields`
  return (lines) => reserialized(lines.join(', '), shape)
}

function memberForm(key: string): Form {
  return (lines) => {
    const member = parseDictionary(lines.join(', '))?.get(key)
    return member === undefined ? null : serializeMember(member)
  }
}
