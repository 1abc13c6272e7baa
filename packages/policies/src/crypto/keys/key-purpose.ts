import { type JsonObject, memberOf } from '../../shared/json/strict-json.js'

/** Purpose of a key. */
export type KeyPurpose = 'verify' | 'sign' | 'encrypt' | 'decrypt'

/** Purpose of a key, and the `alg` values that are valid for it. */
export interface KeyUse {
  readonly purpose: KeyPurpose
  readonly algorithms: readonly string[]
}

/** Members of private RSA, EC and OKP keys. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth']
const OPERATIONS: Readonly<Record<KeyPurpose, readonly string[]>> = {
  verify: ['verify'],
  sign: ['sign'],
  encrypt: ['encrypt', 'wrapKey', 'deriveKey', 'deriveBits'],
  decrypt: ['decrypt', 'unwrapKey', 'deriveKey', 'deriveBits'],
}

/** Returns true if the members of a JWK allow a purpose (RFC 7517 sections 4.2 and 4.3). */
export function allowsPurpose(jwk: JsonObject, purpose: KeyPurpose): boolean {
  const use = memberOf(jwk, 'use')
  const operations = memberOf(jwk, 'key_ops')
  const isForSignatures = purpose === 'verify' || purpose === 'sign'
  if (use !== undefined && use !== (isForSignatures ? 'sig' : 'enc')) return false
  return (
    operations === undefined ||
    (Array.isArray(operations) && operations.some((one) => OPERATIONS[purpose].includes(one)))
  )
}

/** Returns why a JWK must not serve a purpose, or null. */
export function purposeIssue(jwk: JsonObject, purpose: KeyPurpose): string | null {
  return allowsPurpose(jwk, purpose) ? null : `is a JWK whose 'use' or 'key_ops' does not allow '${purpose}'`
}

/** Returns why the members of a JWK forbid a use (`alg`: RFC 7517 section 4.4), or null. */
export function useIssue(jwk: JsonObject, { purpose, algorithms }: KeyUse): string | null {
  const alg = memberOf(jwk, 'alg')
  if (alg === undefined || algorithms.some((name) => name === alg)) return purposeIssue(jwk, purpose)
  return `is a JWK whose 'alg' is not ${algorithms.join(' or ')}; change the algorithm or use another key`
}

/** Returns true if a JWK contains a private key. */
export function isPrivateJwk(jwk: JsonObject): boolean {
  return PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))
}

/** Returns true if a PEM contains a private key. */
export function isPrivatePem(pem: string): boolean {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)
}

/**
 * Returns why this half of a key pair is wrong for a purpose, or null. A private key must not be stored without need.
 */
export function keyHalfIssue(isPrivate: boolean, purpose: KeyPurpose): string | null {
  const needsPrivate = purpose === 'sign' || purpose === 'decrypt'
  if (isPrivate === needsPrivate) return null
  return isPrivate
    ? `is a private key; use the public one, which is sufficient to ${purpose}`
    : `is a public key; a private one is required to ${purpose}`
}
