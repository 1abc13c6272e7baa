import type { CompileEnv, HttpAnswer, HttpCall, HttpClient, HttpClientTls } from '@sluice/core'
import { callOptions } from '../../shared/call/call-options.js'
import { type Endpoint, parseEndpoint } from '../../shared/call/endpoint.js'
import { type JsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import { isTemplate, TENANT_PLACEHOLDER } from './tenants.js'

const DISCOVERY_PATH = '/.well-known/openid-configuration'
const MAX_ANSWER_BYTES = 1024 * 1024
/** Maximum number of origins. Issuers rarely move their endpoints; connections are kept until a reload. */
const MAX_ORIGINS = 8

/** Address ranges that issuer metadata may point to. Link-local addresses and cloud metadata services are excluded. */
const OTHER_ADDRESSES = ['private']

interface IssuerCallsConfig {
  /** Endpoint that the document itself names. */
  readonly own: Endpoint
  readonly timeout: string
  readonly tls?: HttpClientTls | undefined
}

/** Calls an endpoint of an issuer. @param key name of the address in messages. Rejects with any Error. */
export type CallIssuer = (address: string, key: string, call: Omit<HttpCall, 'path'>) => Promise<HttpAnswer>

/**
 * Compiles the calls.
 * @param timeoutKey name of the `timeout` option in messages.
 * @throws Error for an invalid duration.
 */
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
      throw new Error('the issuer has moved its endpoints too often; reload the configuration')
    const guard = origin === config.own.origin ? {} : { addresses: OTHER_ADDRESSES }
    const client = clients.get(origin) ?? env.httpClient({ origin, ...bounds, ...guard })
    clients.set(origin, client)
    return client.call({ ...call, path })
  }
}

/** Fetches a document of an issuer. Rejects with any Error. */
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

/**
 * Returns the metadata address of an issuer (OpenID Connect Discovery 1.0 section 4).
 * @throws Error if the metadata address itself was configured.
 */
export function metadataAddress(issuer: string): string {
  if (issuer.includes(TENANT_PLACEHOLDER))
    throw new Error(
      `'${issuer}' is not a valid address; use the multi-tenant one, such as …/organizations/v2.0, and list 'tenants'`,
    )
  if (issuer.endsWith(DISCOVERY_PATH))
    throw new Error(`'${issuer}' is the address of the metadata; use the issuer, without ${DISCOVERY_PATH}`)
  return `${issuer.replace(/\/$/, '')}${DISCOVERY_PATH}`
}

/** Maximum number of characters of an issuer that messages quote. */
const MAX_SHOWN = 200

/**
 * Parses the metadata of an issuer.
 * @param isOfTenants true if it must be multi-tenant metadata, with a placeholder in the issuer.
 * @throws Error for invalid metadata, or metadata of another issuer.
 */
export function metadataIn(
  body: Uint8Array,
  issuer: string,
  isOfTenants = false,
): JsonObject & { issuer: string } {
  const metadata = parseStrictObject(body)
  if (metadata === null) throw new Error('the metadata of the issuer is not a JSON object')
  const named = memberOf(metadata, 'issuer')
  if (typeof named === 'string' && (isOfTenants ? isTemplate(named) : named === issuer))
    return { ...metadata, issuer: named }
  const other = typeof named === 'string' ? JSON.stringify(named.slice(0, MAX_SHOWN)) : '(none)'
  const found = `the metadata is of the issuer ${other}, not of`
  if (isOfTenants)
    throw new Error(`${found} a multi-tenant issuer with ${TENANT_PLACEHOLDER}; remove 'tenants'`)
  const remedy = typeof named === 'string' && isTemplate(named) ? "; list the accepted 'tenants'" : ''
  throw new Error(`${found} "${issuer}"${remedy}`)
}

/** Returns an address in the metadata, or null. @throws Error for an address without TLS if the issuer uses TLS. */
export function addressIn(metadata: JsonObject, name: string, issuer: string): string | null {
  const address = memberOf(metadata, name)
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  if (issuer.startsWith('https:') && new URL(address).protocol !== 'https:')
    throw new Error(`the '${name}' of the issuer does not use TLS`)
  return address
}
