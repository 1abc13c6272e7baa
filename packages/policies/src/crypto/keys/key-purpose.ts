import { type JsonObject, memberOf } from '../../engines/json/strict-json.js'

/** What a key is needed for. */
export type KeyPurpose = 'verify' | 'sign' | 'encrypt' | 'decrypt'

/** What a key is needed for, and with which algorithm, by the names that `alg` may have for it. */
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

/** Whether a JWK may serve a purpose, by what it says itself (RFC 7517 sections 4.2 and 4.3). */
export function isMeantFor(jwk: JsonObject, purpose: KeyPurpose): boolean {
  const use = memberOf(jwk, 'use')
  const operations = memberOf(jwk, 'key_ops')
  const isForSignatures = purpose === 'verify' || purpose === 'sign'
  if (use !== undefined && use !== (isForSignatures ? 'sig' : 'enc')) return false
  return (
    operations === undefined ||
    (Array.isArray(operations) && operations.some((one) => OPERATIONS[purpose].includes(one)))
  )
}

/** Why a JWK may not serve a purpose; null when it may. */
export function purposeFlaw(jwk: JsonObject, purpose: KeyPurpose): string | null {
  return isMeantFor(jwk, purpose) ? null : `is a JWK whose 'use' or 'key_ops' is not to ${purpose}`
}

/** Why a JWK may not be used so, by what it says itself (its `alg`: RFC 7517 section 4.4); null when it may. */
export function useFlaw(jwk: JsonObject, { purpose, algorithms }: KeyUse): string | null {
  const alg = memberOf(jwk, 'alg')
  if (alg === undefined || algorithms.some((name) => name === alg)) return purposeFlaw(jwk, purpose)
  return `is a JWK whose 'alg' is not ${algorithms.join(' or ')}; use it with its own algorithm, or another key`
}

/** Whether a JWK of a pair holds the private half. */
export function isPrivateJwk(jwk: JsonObject): boolean {
  return PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))
}

/** Whether a private key is in a PEM, beside whatever else. */
export function isPrivatePem(pem: string): boolean {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)
}

/** Why this half of a pair is not the one for a purpose, null when it is: a secret lies nowhere without need. */
export function halfFlaw(isPrivate: boolean, purpose: KeyPurpose): string | null {
  const needsPrivate = purpose === 'sign' || purpose === 'decrypt'
  if (isPrivate === needsPrivate) return null
  return isPrivate
    ? `is a private key; write the public one, which is all it takes to ${purpose}`
    : `is a public key; it takes the private one to ${purpose}`
}
