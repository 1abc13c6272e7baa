import { createHash } from 'node:crypto'
import type { CompileEnv } from '@sluice/core'
import { parseEndpoint } from '../../shared/call/endpoint.js'
import type { KeyMaterial } from '../keys/key-material.js'
import type { SignatureAlgorithm } from '../keys/signature-algorithm.js'
import { addressIn, compileIssuerCalls, fetchDocument, metadataAddress, metadataIn } from './issuer-calls.js'
import { DEFAULT_KEY_TIMEOUT, type RemoteJwksConfig } from './key-schema.js'
import type { IssuerCheck, SignatureKey } from './key-set.js'
import { KeyTable } from './key-table.js'
import { readKeySet } from './load-key.js'
import { addKey, issuerCheck } from './local-key-set.js'
import type { FetchedKeys } from './remote-key-set.js'
import { isTemplate, TENANT_PLACEHOLDER, type Tenants, tenantsOf } from './tenants.js'

const LINE_END = 10

/** Policy options that decide which fetched keys are accepted. */
export interface KeyAcceptance {
  readonly allowed: readonly SignatureAlgorithm[]
  readonly allowWeak: boolean
}

/** Key endpoint of an issuer. */
export interface KeyEndpoint {
  /** Fetches the document with the keys. Rejects with any Error without secrets in its message. */
  fetch(): Promise<Uint8Array>
  /**
   * Parses the keys.
   * @param fetchedAt time of the fetch in milliseconds since 1970.
   * @throws Error if none of them is usable.
   */
  read(body: Uint8Array, fetchedAt: number): FetchedKeys
}

/**
 * Compiles the key endpoint: `url`, or the address in the metadata of `discovery` (OpenID Connect Discovery 1.0
 * section 4).
 * @throws Error for an invalid address.
 */
export function compileKeyEndpoint(
  config: RemoteJwksConfig,
  accepted: KeyAcceptance,
  env: CompileEnv,
): KeyEndpoint {
  const { timeout = DEFAULT_KEY_TIMEOUT, tls, url, discovery } = config
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
