import { createHash } from 'node:crypto'
import type { TObject } from '@sinclair/typebox'
import { type CompileEnv, type Configured, parseDuration } from '@sluice/core'
import type { IssuerCheck, KeySet, SignatureKey } from '../../crypto/jose/key-set.js'
import { KeyTable } from '../../crypto/jose/key-table.js'
import { readKeySet } from '../../crypto/jose/load-key.js'
import { addKey, issuerCheck } from '../../crypto/jose/local-key-set.js'
import type { KeyMaterial } from '../../crypto/keys/key-material.js'
import type { SignatureAlgorithm } from '../../crypto/keys/signature-algorithm.js'
import { digestOf } from '../../shared/call/call-sharing.js'
import { callTls } from '../../shared/call/call-tls.js'
import { parseEndpoint } from '../../shared/call/endpoint.js'
import { MARGIN_MS } from '../../shared/call/single-flight.js'
import { optionalDuration, optionalText } from '../../shared/options/options.js'
import { fetchForGateway, type IssuerDocument } from './gateway-fetch.js'
import { addressIn, compileIssuerCalls, fetchDocument, metadataAddress, metadataIn } from './issuer-calls.js'
import { type FetchedKeys, RemoteKeySet } from './remote-key-set.js'
import { isTemplate, TENANT_PLACEHOLDER, type Tenants, tenantsOf, tenantsSchema } from './tenants.js'

/** Options of a key set that is fetched from an issuer. */
export const remoteKeyOptions = {
  url: optionalText(2048, 'Address of the key set of the issuer.', { destination: true }),
  discovery: optionalText(
    2048,
    'Issuer with metadata under `/.well-known/openid-configuration`, which contains the address of its keys (OpenID Connect Discovery). The keys are valid only for this issuer. An address on another origin must not be a link-local address or a cloud metadata service.',
    { destination: true },
  ),
  tenants: tenantsSchema,
  refresh: optionalDuration('Age at which fetched keys are refreshed in the background.', '10m'),
  maxStale: optionalDuration(
    'Maximum age of fetched keys while the issuer does not respond. Older keys cause 503 `GW_AUTH_UNAVAILABLE`.',
    '1d',
  ),
  timeout: optionalDuration('Timeout of calls to the issuer, 1ms to 20s.', '5s'),
  tls: callTls,
}

/** Configuration of a fetched key set. */
export type RemoteKeysConfig = Configured<TObject<typeof remoteKeyOptions>> & { readonly issuer?: string }

/** Interval in milliseconds at which a worker checks the age of its keys. */
const LOOK_EVERY_MS = 5000
const LINE_END = 10

/** Opens the keys of an issuer, fetched on demand and kept fresh. @throws Error for an invalid address. */
export function openRemoteKeys(jwks: RemoteKeysConfig, accepted: KeyAcceptance, env: CompileEnv): KeySet {
  const document = keysDocument(jwks, accepted, env)
  const address = jwks.url ?? jwks.discovery
  const [refreshMs, maxStaleMs] = [parseDuration(jwks.refresh), parseDuration(jwks.maxStale)]
  // Fetched keys survive reloads that do not change their options.
  const name = `jwt-keys:${digestOf(jwks, accepted.allowed, accepted.allowWeak)}`
  const onFailure = (reason: string): void => env.report('jwt_keys_failed', { endpoint: address, reason })
  const keys = env.shared(name, () => new RemoteKeySet({ refreshMs, maxStaleMs, onFailure }))
  const calls = jwks.url === undefined ? 2 : 1
  const fetch = fetchForGateway(document, {
    ...{ store: env.state.store('gateway'), name, freshMs: Math.min(refreshMs, maxStaleMs) },
    waitMs: calls * parseDuration(jwks.timeout) + MARGIN_MS,
  })
  env.onClose(keys.use(fetch))
  env.schedule(LOOK_EVERY_MS, () => keys.keepFresh())
  return keys
}

/** Policy options that decide which fetched keys are accepted. */
export interface KeyAcceptance {
  readonly allowed: readonly SignatureAlgorithm[]
  readonly allowWeak: boolean
}

/**
 * Returns the document with the keys: at `url`, or the address in the metadata of `discovery` (OpenID Connect Discovery 1.0
 * section 4).
 * @throws Error for an invalid address.
 */
function keysDocument(
  config: RemoteKeysConfig,
  accepted: KeyAcceptance,
  env: CompileEnv,
): IssuerDocument<FetchedKeys> {
  const { timeout, tls, url, discovery } = config
  const [address, key] = url === undefined ? [discovery!, 'jwks.discovery'] : [url, 'jwks.url']
  const call = compileIssuerCalls({ own: parseEndpoint(address, key), timeout, tls }, 'jwks.timeout', env)
  const tenants = tenantsOf(config.tenants)
  const issuerOf = tenants === null ? issuerCheck(config.issuer ?? discovery) : null
  const read = (body: Uint8Array, fetchedAt: number): FetchedKeys => {
    if (tenants === null) return { ...keysIn(body, () => issuerOf, accepted), fetchedAt }
    const end = body.indexOf(LINE_END)
    const template = Buffer.from(body.subarray(0, end)).toString()
    if (!isTemplate(template)) throw new Error('the keys do not belong to a multi-tenant issuer')
    const checkOf = (key: KeyMaterial): IssuerCheck => tenantCheck(tenants, template, key)
    return { ...keysIn(body.subarray(end + 1), checkOf, accepted), fetchedAt }
  }
  if (url !== undefined) return { fetch: () => fetchDocument(call, url, 'jwks.url'), read }
  const issuer = discovery!
  const place = metadataAddress(issuer)
  parseEndpoint(place, 'jwks.discovery')
  const fetch = async (): Promise<Uint8Array> => {
    const metadata = metadataIn(await fetchDocument(call, place, 'jwks.discovery'), issuer, tenants !== null)
    const address = addressIn(metadata, 'jwks_uri', issuer)
    if (address === null) throw new Error("the metadata of the issuer has no 'jwks_uri'")
    const keys = await fetchDocument(call, address, 'jwks_uri')
    // Stored with the keys, because other workers read them without the metadata.
    return tenants === null ? keys : Buffer.concat([Buffer.from(`${metadata.issuer}\n`), keys])
  }
  return { fetch, read }
}

/** Returns the check for a key of one tenant or of all tenants. Microsoft Entra ID states the issuer in the JWK. */
function tenantCheck(tenants: Tenants, template: string, { issuer = template }: KeyMaterial): IssuerCheck {
  return (iss, tid) =>
    tenants.accepts(template, iss, tid) && iss === issuer.replace(TENANT_PLACEHOLDER, tid as string)
}

/** Collects the usable keys. Skips others, because an issuer may publish several kinds, and skips secrets. */
function keysIn(
  body: Uint8Array,
  issuerOf: (key: KeyMaterial) => IssuerCheck | null,
  { allowed, allowWeak }: KeyAcceptance,
): Omit<FetchedKeys, 'fetchedAt'> {
  const table = new KeyTable<SignatureKey>()
  const kids = new Set<string>()
  let placed = 0
  for (const read of readKeySet(body, 'verify')) {
    try {
      const material = read()
      if (material.key.type === 'secret') continue
      const issuer = issuerOf(material)
      placed += addKey(table, material, { issuer, allowed, allowWeak, algorithms: undefined, sharesId: true })
      if (material.kid !== null) kids.add(material.kid)
    } catch {
      // Other keys may be usable.
    }
  }
  if (placed === 0)
    throw new Error(`the issuer has no key for the allowed algorithms, which are ${allowed.join(', ')}`)
  const version = createHash('sha256').update(body).digest('base64url')
  return { version, kids, candidates: (alg, kid) => table.candidates(alg, kid) }
}
