import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { decodeBase64url } from './base64url.js'
import { type JsonObject, memberOf } from './strict-json.js'

/** What a key is needed for. */
export type KeyPurpose = 'verify' | 'sign' | 'encrypt' | 'decrypt'

/** A key, and what its JWK says about it. */
export interface KeyMaterial {
  readonly key: KeyObject
  readonly kid: string | null
  /** The algorithm that the JWK is bound to; null when it names none. */
  readonly alg: string | null
}

/** Members of private RSA, EC and OKP keys. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth']
const OPERATIONS: Readonly<Record<KeyPurpose, readonly string[]>> = {
  verify: ['verify'],
  sign: ['sign'],
  encrypt: ['encrypt', 'wrapKey', 'deriveKey', 'deriveBits'],
  decrypt: ['decrypt', 'unwrapKey', 'deriveKey', 'deriveBits'],
}

/** Whether a purpose needs the private half of a pair. */
export function isPrivate(purpose: KeyPurpose): boolean {
  return purpose === 'sign' || purpose === 'decrypt'
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

/** The key of a JWK (RFC 7517). @throws Error that says what is wrong, without what is secret in it. */
export function importJwk(jwk: JsonObject, purpose: KeyPurpose): KeyMaterial {
  const kid = textMember(jwk, 'kid')
  const alg = textMember(jwk, 'alg')
  if (!isMeantFor(jwk, purpose)) throw new Error(`is a JWK whose 'use' or 'key_ops' is not to ${purpose}`)
  if (memberOf(jwk, 'kty') === 'oct') return { key: importSecret(jwk), kid, alg }
  const hasPrivate = PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))
  if (hasPrivate && !isPrivate(purpose)) {
    throw new Error(`is a private key; write the public one, which is all it takes to ${purpose}`)
  }
  if (!hasPrivate && isPrivate(purpose))
    throw new Error(`is a public key; it takes the private one to ${purpose}`)
  const input = { key: jwk as JsonWebKey, format: 'jwk' } as const
  try {
    return { key: hasPrivate ? createPrivateKey(input) : createPublicKey(input), kid, alg }
  } catch {
    throw new Error('is a JWK that cannot be read; it needs a known kty and crv, and the members of its type')
  }
}

function importSecret(jwk: JsonObject): KeyObject {
  const written = memberOf(jwk, 'k')
  const bytes = typeof written === 'string' ? decodeBase64url(written) : null
  if (bytes === null || bytes.length === 0) throw new Error("is an oct JWK whose 'k' is not base64url")
  return createSecretKey(bytes)
}

function textMember(jwk: JsonObject, name: 'kid' | 'alg'): string | null {
  const value = memberOf(jwk, name)
  if (value === undefined) return null
  if (typeof value === 'string') return value
  throw new Error(`is a JWK whose '${name}' is no text`)
}
