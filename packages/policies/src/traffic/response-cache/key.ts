import { createHash } from 'node:crypto'
import { type Exchange, headerJoined, QueryCursor } from '@sluice/core'
import type { RequestFacts } from './request-facts.js'

/** Maximum key length in characters. Requests with longer keys bypass the cache. */
export const MAX_KEY_CHARS = 16_384
/** Cannot occur in fields, paths, queries or hosts. Other values are written with their length. */
const SEPARATOR = '\n'

/** Components of the cache key besides host, path, scheme and route. */
export interface KeyParts {
  /** Digest of the configuration. A configuration change invalidates entries. */
  readonly use: string
  readonly hasHost: boolean
  /** Query parameters in the key: only these, all except these, or all (null). */
  readonly query: { readonly only: readonly string[] } | { readonly except: readonly string[] } | null
  /** Header names in lower case. */
  readonly headers: readonly string[]
  readonly cookies: readonly string[]
  readonly hasConsumer: boolean
  /** True if credentials are part of the key. */
  readonly hasCredentials: boolean
}

/**
 * Compiles the function for cache URIs, the keys that operators purge by: `api.example.com/orders?page=2`.
 */
export function compileUri({ hasHost, query }: KeyParts): (x: Exchange) => string {
  const queryOf = query === null ? (text: string) => text : filterOf(query)
  return (x) => uriOf(hasHost ? x.authority : '', x.forwardPath, queryOf(x.query))
}

/** Returns the cache URI for parts of a URL. */
export function uriOf(authority: string, path: string, query: string): string {
  const host = authority.toLowerCase()
  return query === '' ? host + path : `${host}${path}?${query}`
}

/** Compiles the function for cache keys: the URI and everything else that responses may depend on. */
export function compileKey(parts: KeyParts): (x: Exchange, uri: string, facts: RequestFacts) => string {
  const { use, hasHost, headers, cookies, hasConsumer, hasCredentials } = parts
  return (x, uri, facts) => {
    let key = uri + SEPARATOR + use + SEPARATOR + x.scheme + SEPARATOR + x.routeId + SEPARATOR
    if (facts.varyingFields !== '') key += sized('o', digestOf(facts.varyingFields))
    // The upstream gets the host as received, and may accept only lower case.
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

/** Writes a value with its length, so that different values cannot produce the same key. */
function sized(kind: string, value: string): string {
  return `${kind}${value.length}:${value}${SEPARATOR}`
}

function part(value: string | null): string {
  return value === null ? `-${SEPARATOR}` : sized('h', value)
}

/** Returns a digest, so that stores hold no secrets. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** Fields that describe a body. In SOAP 1.1, `soapaction` names the operation. */
const BODY_FIELDS = ['content-type', 'content-encoding', 'soapaction']

/** Returns the digest of a request body with its describing fields, for requests other than GET. */
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

/** Returns all values of a cookie, because applications differ in which duplicate they use. */
function cookieValues(field: string, name: string): string | null {
  const pairs = cookiePairs(field).filter((pair) => pair.name === name)
  return pairs.length === 0 ? null : pairs.map(({ value }) => value).join(';')
}

/** True if a request has cookies that the key does not include. */
export function hasOtherCookies(field: string | null, names: readonly string[]): boolean {
  return field !== null && cookiePairs(field).some(({ name }) => !names.includes(name))
}

/** Splits a cookie field. A text without `=` has an empty name. Some applications also separate by commas. */
function cookiePairs(field: string): { readonly name: string; readonly value: string }[] {
  const pairs = field.split(/[;,]/).map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ''))
  return pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=')
      return { name: equals < 0 ? '' : pair.slice(0, equals), value: pair.slice(equals + 1) }
    })
}

/** Names that all applications read alike. PHP, for example, reads `user.id` and `user_id[` as `user_id`. */
const PLAIN_NAME = /^[\w-]*$/

/**
 * Compiles the query filter. Parameters keep their order and spelling, which may matter to the upstream. A
 * pair that others parse differently is always kept, because it could hide a parameter. Some separate by `;`
 * (`utm=1;id=2`), and some ignore case (`ID`).
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
