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
import type { FetchedKeys, FetchKeys } from './remote-key-set.js'

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
  const { timeout = DEFAULT_KEY_TIMEOUT, tls, url, discovery } = config
  const [address, key] = url === undefined ? [discovery!, 'jwks.discovery'] : [url, 'jwks.url']
  const call = compileIssuerCalls({ own: parseEndpoint(address, key), timeout, tls }, 'jwks.timeout', env)
  if (url !== undefined) {
    return async () => keysIn(await fetchDocument(call, url, 'jwks.url'), config.issuer ?? null, accepted)
  }
  const issuer = discovery!
  const place = metadataAddress(issuer)
  parseEndpoint(place, 'jwks.discovery')
  return async () => {
    const metadata = metadataIn(await fetchDocument(call, place, 'jwks.discovery'), issuer)
    const address = addressIn(metadata, 'jwks_uri', issuer)
    if (address === null) throw new Error("the metadata of the issuer has no 'jwks_uri'")
    return keysIn(await fetchDocument(call, address, 'jwks_uri'), config.issuer ?? issuer, accepted)
  }
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
