import { createHash } from 'node:crypto'
import { type Exchange, headerJoined, QueryCursor } from '@sluice/core'
import type { RequestFacts } from './request-facts.js'

/** A longer key is not looked for. */
export const MOST_KEY_CHARS = 16_384
/** In no field, path, query or host; what could hold it is written with its length. */
const SEPARATOR = '\n'

/** What the key of a response is made of, beside host, path, scheme and route. */
export interface KeyParts {
  /** Digest of the configuration: what was kept by other rules, or apart by other things, is not found. */
  readonly use: string
  readonly hasHost: boolean
  /** Query parameters that count: these alone, all but these, or all (null). */
  readonly query: { readonly only: readonly string[] } | { readonly except: readonly string[] } | null
  /** In lower case. */
  readonly headers: readonly string[]
  readonly cookies: readonly string[]
  readonly hasConsumer: boolean
  /** Credentials are a part of it where a request has some. */
  readonly hasCredentials: boolean
}

/** Makes the name of what a request asks for, by which operators purge: `api.example.com/orders?page=2`. */
export function compileUri({ hasHost, query }: KeyParts): (x: Exchange) => string {
  const queryOf = query === null ? (text: string) => text : filterOf(query)
  return (x) => uriOf(hasHost ? x.authority : '', x.forwardPath, queryOf(x.query))
}

/** The same of a part of a URL that a response names. */
export function uriOf(authority: string, path: string, query: string): string {
  const host = authority.toLowerCase()
  return query === '' ? host + path : `${host}${path}?${query}`
}

/** Makes the whole key: the URI, and who and what else may get another response. */
export function compileKey(parts: KeyParts): (x: Exchange, uri: string, facts: RequestFacts) => string {
  const { use, hasHost, headers, cookies, hasConsumer, hasCredentials } = parts
  return (x, uri, facts) => {
    let key = uri + SEPARATOR + use + SEPARATOR + x.scheme + SEPARATOR + x.routeId + SEPARATOR
    if (facts.ownFields !== '') key += sized('o', digestOf(facts.ownFields))
    // The upstream gets the host as it was written, and may know it in small letters alone.
    if (hasHost && !uri.startsWith(x.authority)) key += sized('H', x.authority)
    if (x.hasEmptyQuery) key += sized('q', '')
    if (hasConsumer && x.consumer !== null) key += sized('c', x.consumer.id)
    if (hasCredentials && facts.isAuthorized) key += sized('a', digestOf(facts.credentials))
    for (const name of headers) key += part(headerJoined(x.headers, name))
    if (cookies.length > 0) key += cookiesOf(facts.cookies, cookies)
    if (x.body !== null && x.body.length > 0) key += sized('b', bodyDigest(x))
    return key
  }
}

/** A value with its length, so that no value can look like two. */
function sized(kind: string, value: string): string {
  return `${kind}${value.length}:${value}${SEPARATOR}`
}

function part(value: string | null): string {
  return value === null ? `-${SEPARATOR}` : sized('h', value)
}

/** No store holds a secret. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** Fields that say what a body is, and SOAP 1.1 which operation it is for. */
const BODY_FIELDS = ['content-type', 'content-encoding', 'soapaction']

/** Of requests other than GET: what they ask for stands in the body, and what that is in its fields. */
function bodyDigest(x: Exchange): string {
  const hash = createHash('sha256')
  for (const name of BODY_FIELDS) hash.update(part(headerJoined(x.headers, name)))
  return `${x.method} ${hash.update(x.body!).digest('base64')}`
}

function cookiesOf(field: string | null, names: readonly string[]): string {
  let text = ''
  for (const name of names) text += part(field === null ? null : cookieValues(field, name))
  return text
}

/** All values of a cookie: applications differ in which of two they take. */
function cookieValues(field: string, name: string): string | null {
  const pairs = cookiePairs(field).filter((pair) => pair.name === name)
  return pairs.length === 0 ? null : pairs.map(({ value }) => value).join(';')
}

/** True if a request has cookies beside those that the key names. */
export function hasOtherCookies(field: string | null, names: readonly string[]): boolean {
  return field !== null && cookiePairs(field).some(({ name }) => !names.includes(name))
}

/** The cookies of a field. A text without `=` is one without a name; some applications separate by commas too. */
function cookiePairs(field: string): { readonly name: string; readonly value: string }[] {
  const pairs = field.split(/[;,]/).map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ''))
  return pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=')
      return { name: equals < 0 ? '' : pair.slice(0, equals), value: pair.slice(equals + 1) }
    })
}

/** Others read names beyond these as other names: PHP `user.id` and `user_id[` as `user_id`. */
const PLAIN_NAME = /^[\w-]*$/

/**
 * Parameters keep their order and writing: what is equal to us might not be to the upstream. A pair that others read
 * differently always counts, or else a parameter hides in one that does not: `;` separates for some (`utm=1;id=2`), and
 * some take `ID` for `id`.
 */
function filterOf(query: NonNullable<KeyParts['query']>): (text: string) => string {
  const only: ReadonlySet<string> = new Set(
    'only' in query ? query.only.map((name) => name.toLowerCase()) : [],
  )
  const isKept = (cursor: QueryCursor): boolean =>
    'only' in query
      ? only.has(cursor.rawName.toLowerCase()) || !PLAIN_NAME.test(cursor.rawName)
      : !query.except.some((name) => cursor.hasName(name))
  return (text) => {
    if (text === '') return ''
    const cursor = new QueryCursor()
    const kept: string[] = []
    cursor.read(text)
    while (cursor.advance()) {
      const pair = text.slice(cursor.start, cursor.end)
      if (pair.includes(';') || isKept(cursor)) kept.push(pair)
    }
    return kept.join('&')
  }
}
