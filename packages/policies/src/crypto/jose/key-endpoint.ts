import { createHash } from 'node:crypto'
import type { CompileEnv, HttpAnswer, HttpClient } from '@sluice/core'
import { memberOf, parseStrictObject } from '../../engines/json/strict-json.js'
import { callBounds } from '../../shared/call-bounds.js'
import { parseEndpoint } from '../../shared/endpoint.js'
import type { SignatureAlgorithm } from '../keys/signature-algorithm.js'
import { DEFAULT_KEY_TIMEOUT, type RemoteJwksConfig } from './key-schema.js'
import type { SignatureKey } from './key-set.js'
import { KeyTable } from './key-table.js'
import { readKeySet } from './load-key.js'
import { addKey } from './local-key-set.js'
import type { FetchedKeys, FetchKeys } from './remote-key-set.js'

const DISCOVERY_PATH = '/.well-known/openid-configuration'
const MAX_ANSWER_BYTES = 1024 * 1024
/** Where an issuer has its keys changes seldom; connections are kept for each until a reload. */
const MAX_ORIGINS = 8

/** Where the metadata of an issuer may lead: not to link-local addresses, nor to those at which clouds hand out credentials. */
const ADDRESSES_OF_KEYS = ['private']

/** What of a policy says which fetched keys it takes. */
export interface KeyAcceptance {
  readonly allowed: readonly SignatureAlgorithm[]
  readonly allowWeak: boolean
}

/**
 * Fetches the keys of an issuer: from `url`, or from where the metadata of `discovery` says (OpenID Connect Discovery 1.0,
 * section 4). @throws Error for an address that is none.
 */
export function compileKeyFetch(
  config: RemoteJwksConfig,
  accepted: KeyAcceptance,
  env: CompileEnv,
): FetchKeys {
  const clients = new Map<string, HttpClient>()
  const { timeout = DEFAULT_KEY_TIMEOUT, tls } = config
  const times = callBounds({ timeout, tls }, 'jwks.timeout')
  const bounds = { ...times, maxResponseBytes: MAX_ANSWER_BYTES, connections: 1 }
  const own = parseEndpoint(
    config.url ?? config.discovery!,
    config.url === undefined ? 'jwks.discovery' : 'jwks.url',
  )
  const get = async (address: string, key: string): Promise<HttpAnswer['body']> => {
    const { origin, path } = parseEndpoint(address, key)
    if (!clients.has(origin) && clients.size >= MAX_ORIGINS)
      throw new Error('the issuer has moved its keys too often; reload')
    const guard = origin === own.origin ? {} : { addresses: ADDRESSES_OF_KEYS }
    const client = clients.get(origin) ?? env.httpClient({ origin, ...bounds, ...guard })
    clients.set(origin, client)
    const headers = ['accept', 'application/json, application/jwk-set+json']
    const { status, body } = await client.call({ method: 'GET', path, headers })
    if (status !== 200) throw new Error(`${origin} answered ${status}`)
    return body
  }
  const { url, discovery } = config
  if (url !== undefined) {
    return async () => keysIn(await get(url, 'jwks.url'), config.issuer ?? null, accepted)
  }
  const issuer = discovery!
  const place = `${issuer.replace(/\/$/, '')}${DISCOVERY_PATH}`
  parseEndpoint(place, 'jwks.discovery')
  return async () => {
    const address = addressIn(await get(place, 'jwks.discovery'), issuer)
    return keysIn(await get(address, 'jwks_uri'), config.issuer ?? issuer, accepted)
  }
}

/** Where an issuer has its keys. Metadata of another issuer, or that leads from TLS to none, is refused. */
function addressIn(body: Uint8Array, issuer: string): string {
  const metadata = parseStrictObject(body)
  if (metadata === null) throw new Error('the metadata of the issuer is no JSON object')
  if (memberOf(metadata, 'issuer') !== issuer)
    throw new Error("the metadata has another 'issuer' than 'jwks.discovery'")
  const address = memberOf(metadata, 'jwks_uri')
  if (typeof address !== 'string' || !URL.canParse(address))
    throw new Error("the metadata of the issuer has no 'jwks_uri'")
  if (issuer.startsWith('https:') && new URL(address).protocol !== 'https:')
    throw new Error("the 'jwks_uri' of the issuer has no TLS")
  return address
}

/** Keys that cannot serve are left out: an issuer may publish some of other kinds. Secrets are never among them. */
function keysIn(body: Uint8Array, issuer: string | null, { allowed, allowWeak }: KeyAcceptance): FetchedKeys {
  const table = new KeyTable<SignatureKey>()
  const kids = new Set<string>()
  let placed = 0
  for (const read of readKeySet(body, 'verify')) {
    try {
      const material = read()
      if (material.key.type === 'secret') continue
      placed += addKey(table, material, { issuer, allowed, allowWeak, algorithms: undefined })
      if (material.kid !== null) kids.add(material.kid)
    } catch {
      // The next one may be good.
    }
  }
  if (placed === 0)
    throw new Error(`the issuer has no key for the allowed algorithms, which are ${allowed.join(', ')}`)
  const version = createHash('sha256').update(body).digest('base64url')
  return { version, kids, candidates: (alg, kid) => table.candidates(alg, kid) }
}
