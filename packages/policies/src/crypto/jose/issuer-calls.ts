import type { CompileEnv, HttpAnswer, HttpCall, HttpClient, HttpClientTls } from '@sluice/core'
import { type JsonObject, memberOf, parseStrictObject } from '../../engines/json/strict-json.js'
import { callOptions } from '../../shared/call-options.js'
import { type Endpoint, parseEndpoint } from '../../shared/endpoint.js'
import { isTemplate, TENANT_PLACEHOLDER } from './tenants.js'

const DISCOVERY_PATH = '/.well-known/openid-configuration'
const MAX_ANSWER_BYTES = 1024 * 1024
/** Where an issuer has its endpoints changes seldom; connections are kept for each until a reload. */
const MAX_ORIGINS = 8

/** Where the metadata of an issuer may lead: not to link-local addresses, nor to those at which clouds hand out credentials. */
const OTHER_ADDRESSES = ['private']

export interface IssuerCallsConfig {
  /** What the document names itself. */
  readonly own: Endpoint
  readonly timeout: string
  readonly tls?: HttpClientTls | undefined
}

/** Calls an address of an issuer. @param key where the address stands, for messages. Rejects with any Error. */
export type CallIssuer = (address: string, key: string, call: Omit<HttpCall, 'path'>) => Promise<HttpAnswer>

/** @param timeoutKey where `timeout` stands, for messages. @throws Error for a time that is none. */
export function compileIssuerCalls(
  config: IssuerCallsConfig,
  timeoutKey: string,
  env: CompileEnv,
): CallIssuer {
  const clients = new Map<string, HttpClient>()
  const bounds = { ...callOptions(config, timeoutKey), maxResponseBytes: MAX_ANSWER_BYTES }
  return async (address, key, call) => {
    const { origin, path } = parseEndpoint(address, key)
    if (!clients.has(origin) && clients.size >= MAX_ORIGINS)
      throw new Error('the issuer has moved its endpoints too often; reload')
    const guard = origin === config.own.origin ? {} : { addresses: OTHER_ADDRESSES }
    const client = clients.get(origin) ?? env.httpClient({ origin, ...bounds, ...guard })
    clients.set(origin, client)
    return client.call({ ...call, path })
  }
}

/** The body of a document of an issuer. Rejects with any Error. */
export async function fetchDocument(
  call: CallIssuer,
  address: string,
  key: string,
): Promise<HttpAnswer['body']> {
  const headers = ['accept', 'application/json, application/jwk-set+json']
  const { status, body } = await call(address, key, { method: 'GET', headers })
  if (status !== 200) throw new Error(`${new URL(address).origin} answered ${status}`)
  return body
}

/** Where an issuer has its metadata (OpenID Connect Discovery 1.0, section 4). @throws Error where that was written in its place. */
export function metadataAddress(issuer: string): string {
  if (issuer.includes(TENANT_PLACEHOLDER))
    throw new Error(
      `'${issuer}' is no address; write that of the metadata of all tenants, such as …/organizations/v2.0, and list 'tenants'`,
    )
  if (issuer.endsWith(DISCOVERY_PATH))
    throw new Error(
      `'${issuer}' is where the metadata are; the issuer is what stands before ${DISCOVERY_PATH}`,
    )
  return `${issuer.replace(/\/$/, '')}${DISCOVERY_PATH}`
}

/** Longest issuer that a message repeats, in characters. */
const MAX_SHOWN = 200

/**
 * The metadata of an issuer. @param isOfTenants they have to name the issuers of many tenants, with a placeholder.
 * @throws Error where they are none, or those of another one.
 */
export function metadataIn(
  body: Uint8Array,
  issuer: string,
  isOfTenants = false,
): JsonObject & { issuer: string } {
  const metadata = parseStrictObject(body)
  if (metadata === null) throw new Error('the metadata of the issuer is no JSON object')
  const named = memberOf(metadata, 'issuer')
  if (typeof named === 'string' && (isOfTenants ? isTemplate(named) : named === issuer))
    return { ...metadata, issuer: named }
  const other = typeof named === 'string' ? JSON.stringify(named.slice(0, MAX_SHOWN)) : 'nobody'
  const found = `the metadata is of the issuer ${other}, not of`
  if (isOfTenants)
    throw new Error(`${found} many tenants, which has ${TENANT_PLACEHOLDER} once; leave out 'tenants'`)
  const remedy =
    typeof named === 'string' && isTemplate(named) ? "; list the 'tenants' that are accepted" : ''
  throw new Error(`${found} "${issuer}"${remedy}`)
}

/** An address in metadata; null: it has none. @throws Error for one that leads from TLS to none. */
export function addressIn(metadata: JsonObject, name: string, issuer: string): string | null {
  const address = memberOf(metadata, name)
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  if (issuer.startsWith('https:') && new URL(address).protocol !== 'https:')
    throw new Error(`the '${name}' of the issuer has no TLS`)
  return address
}
