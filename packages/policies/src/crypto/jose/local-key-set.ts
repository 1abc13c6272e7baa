import { withContext } from '../../shared/outcome/with-context.js'
import type { KeyMaterial } from '../keys/key-material.js'
import { hasInsecureExponent, weaknessOf } from '../keys/key-strength.js'
import { signatureCheck } from '../keys/signature.js'
import { isKeyFor, type SignatureAlgorithm } from '../keys/signature-algorithm.js'
import type { JwksConfig, KeyConfig } from './key-schema.js'
import { keyName } from './key-schema.js'
import type { IssuerCheck, KeySet, SignatureKey } from './key-set.js'
import { KeyTable } from './key-table.js'
import { loadKey, loadKeySet } from './load-key.js'

/** Keys of a policy that verifies signatures. */
export interface KeySetConfig {
  readonly keys?: readonly (KeyConfig & { readonly issuer?: string })[]
  readonly jwks?: JwksConfig & { readonly issuer?: string }
  readonly allowWeak?: boolean
}

/**
 * Compiles the configured keys, each with the algorithms that its type, its own list and the policy's list allow.
 * @throws Error that names the key and the remedy.
 */
export function compileKeySet(config: KeySetConfig, allowed: readonly SignatureAlgorithm[]): KeySet {
  const keys = new KeyTable<SignatureKey>()
  const { allowWeak = false } = config
  const put = (
    material: KeyMaterial,
    key: KeyConfig & { readonly issuer?: string },
    sharesId = false,
  ): number => {
    const { issuer, algorithms } = key
    return addKey(keys, material, { issuer: issuerCheck(issuer), allowed, allowWeak, algorithms, sharesId })
  }
  config.keys?.forEach((key, i) => {
    withContext(keyName(i, key), () => {
      if (put(loadKey(key, 'verify'), key) > 0) return
      throw new Error(`fits none of the allowed algorithms ${allowed.join(', ')}`)
    })
  })
  const { jwks } = config
  if (jwks !== undefined) {
    const placed = loadKeySet(jwks, 'verify').map((material) =>
      withContext(`key '${material.kid ?? '(without kid)'}' of 'jwks'`, () => put(material, jwks, true)),
    )
    if (!placed.some((count) => count > 0))
      throw new Error(`'jwks' has no key for the allowed algorithms ${allowed.join(', ')}`)
  }
  if (config.keys === undefined && jwks === undefined) throw new Error("neither 'keys' nor 'jwks' is set")
  return { generation: 0, candidates: (alg, kid) => keys.candidates(alg, kid) }
}

/** Restrictions of a key. */
export interface KeyUse {
  /** Restricts the key to an issuer, or null for every issuer that the policy allows. */
  readonly issuer: IssuerCheck | null
  readonly allowed: readonly SignatureAlgorithm[]
  readonly allowWeak: boolean
  /** Algorithms that are configured for the key, or undefined. */
  readonly algorithms: readonly string[] | undefined
  /** True for keys of an issuer, which may use one id for several keys. */
  readonly sharesId?: boolean
}

/** Returns the check for one issuer, or null if every issuer is acceptable. */
export function issuerCheck(issuer: string | undefined): IssuerCheck | null {
  return issuer === undefined ? null : (iss) => iss === issuer
}

/** Adds a key for each of its algorithms. @returns their number. @throws Error for a key that is too weak. */
export function addKey(keys: KeyTable<SignatureKey>, material: KeyMaterial, use: KeyUse): number {
  const names = algorithmsOf(material, use)
  if (hasInsecureExponent(material.key)) throw new Error('is an RSA key with an insecure exponent')
  for (const name of names) {
    const weakness = use.allowWeak ? null : weaknessOf(material.key, name)
    if (weakness !== null) throw new Error(`${weakness}, or set allowWeak`)
    const check = signatureCheck(name, material.key)
    keys.add(name, material.kid, { kid: material.kid, issuer: use.issuer, check }, use.sharesId)
  }
  return names.length
}

/** Returns the algorithms that fit a key, and that its JWK, its configuration and the policy allow. */
function algorithmsOf(
  { key, alg }: KeyMaterial,
  { algorithms, allowed }: KeyUse,
): readonly SignatureAlgorithm[] {
  return allowed.filter(
    (name) =>
      isKeyFor(name, key) &&
      (alg === null || alg === name) &&
      (algorithms === undefined || algorithms.includes(name)),
  )
}
