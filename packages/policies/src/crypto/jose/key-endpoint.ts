import { createHash } from 'node:crypto'
import type { CompileEnv } from '@sluice/core'
import { parseEndpoint } from '../../shared/endpoint.js'
import type { SignatureAlgorithm } from '../keys/signature-algorithm.js'
import { addressIn, compileIssuerCalls, fetchDocument, metadataAddress, metadataIn } from './issuer-calls.js'
import { DEFAULT_KEY_TIMEOUT, type RemoteJwksConfig } from './key-schema.js'
import type { SignatureKey } from './key-set.js'
import { KeyTable } from './key-table.js'
import { readKeySet } from './load-key.js'
import { addKey } from './local-key-set.js'
import type { FetchedKeys } from './remote-key-set.js'

/** What of a policy says which fetched keys it takes. */
export interface KeyAcceptance {
  readonly allowed: readonly SignatureAlgorithm[]
  readonly allowWeak: boolean
}

/** Where an issuer publishes its keys. */
export interface KeyEndpoint {
  /** The document with the keys. Rejects with any Error; its message holds no secret. */
  fetch(): Promise<Uint8Array>
  /** The keys in it. @param fetchedAt ms since 1970. @throws Error where none of them can be used. */
  read(body: Uint8Array, fetchedAt: number): FetchedKeys
}

/**
 * The keys of an issuer: at `url`, or where the metadata of `discovery` says (OpenID Connect Discovery 1.0, section 4).
 * @throws Error for an address that is none.
 */
export function compileKeyEndpoint(
  config: RemoteJwksConfig,
  accepted: KeyAcceptance,
  env: CompileEnv,
): KeyEndpoint {
  const { timeout = DEFAULT_KEY_TIMEOUT, tls, url, discovery } = config
  const [address, key] = url === undefined ? [discovery!, 'jwks.discovery'] : [url, 'jwks.url']
  const call = compileIssuerCalls({ own: parseEndpoint(address, key), timeout, tls }, 'jwks.timeout', env)
  const read = (body: Uint8Array, fetchedAt: number): FetchedKeys => {
    return { ...keysIn(body, config.issuer ?? discovery ?? null, accepted), fetchedAt }
  }
  if (url !== undefined) return { fetch: () => fetchDocument(call, url, 'jwks.url'), read }
  const issuer = discovery!
  const place = metadataAddress(issuer)
  parseEndpoint(place, 'jwks.discovery')
  const fetch = async (): Promise<Uint8Array> => {
    const metadata = metadataIn(await fetchDocument(call, place, 'jwks.discovery'), issuer)
    const address = addressIn(metadata, 'jwks_uri', issuer)
    if (address === null) throw new Error("the metadata of the issuer has no 'jwks_uri'")
    return fetchDocument(call, address, 'jwks_uri')
  }
  return { fetch, read }
}

/** Keys that cannot serve are left out: an issuer may publish some of other kinds. Secrets are never among them. */
function keysIn(
  body: Uint8Array,
  issuer: string | null,
  { allowed, allowWeak }: KeyAcceptance,
): Omit<FetchedKeys, 'fetchedAt'> {
  const table = new KeyTable<SignatureKey>()
  const kids = new Set<string>()
  let placed = 0
  for (const read of readKeySet(body, 'verify')) {
    try {
      const material = read()
      if (material.key.type === 'secret') continue
      placed += addKey(table, material, { issuer, allowed, allowWeak, algorithms: undefined, sharesId: true })
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
