import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { type JsonObject, memberOf } from '../../engines/json/strict-json.js'
import { decode } from '../../shared/encoding/byte-text.js'
import { halfFlaw, isPrivateJwk, isPrivatePem, type KeyPurpose, purposeFlaw } from './key-purpose.js'

/** A key, and what its JWK says about it. */
export interface KeyMaterial {
  readonly key: KeyObject
  readonly kid: string | null
  /** The algorithm that the JWK is bound to; null when it names none. */
  readonly alg: string | null
  /** Issuer of the key, if the JWK names one. This member is not part of RFC 7517. */
  readonly issuer?: string
}

/** The key of a JWK (RFC 7517). @throws Error that says what is wrong, without what is secret in it. */
export function importJwk(jwk: JsonObject, purpose: KeyPurpose): KeyMaterial {
  const kid = textMember(jwk, 'kid')
  const alg = textMember(jwk, 'alg')
  const misuse = purposeFlaw(jwk, purpose)
  if (misuse !== null) throw new Error(misuse)
  if (memberOf(jwk, 'kty') === 'oct') return { key: importSecret(jwk), kid, alg }
  const input = { key: jwk as JsonWebKey, format: 'jwk' } as const
  const flaw = 'is a JWK that cannot be read; it needs a known kty and crv, and the members of its type'
  const issuer = memberOf(jwk, 'issuer')
  const key = halfOf(input, isPrivateJwk(jwk), purpose, flaw)
  return { key, kid, alg, ...(typeof issuer === 'string' && { issuer }) }
}

/** The key of a PEM (a certificate too, whose dates are not looked at). @throws Error as `importJwk`. */
export function importPem(pem: string, purpose: KeyPurpose): KeyObject {
  if (!pem.includes('-----BEGIN ')) throw new Error('is no PEM: it has no line -----BEGIN …-----')
  const isPrivate = isPrivatePem(pem)
  const half = isPrivate ? 'private' : 'public'
  return halfOf(
    pem,
    isPrivate,
    purpose,
    `is a PEM that cannot be read as a ${half} key; one with a passphrase is not supported`,
  )
}

type KeyInput = string | { readonly key: JsonWebKey; readonly format: 'jwk' }

function halfOf(input: KeyInput, isPrivate: boolean, purpose: KeyPurpose, unreadable: string): KeyObject {
  const flaw = halfFlaw(isPrivate, purpose)
  if (flaw !== null) throw new Error(flaw)
  try {
    return isPrivate ? createPrivateKey(input) : createPublicKey(input)
  } catch {
    // The cause is left out: OpenSSL and the JWK reader may repeat what they were given.
    throw new Error(unreadable)
  }
}

function importSecret(jwk: JsonObject): KeyObject {
  const written = memberOf(jwk, 'k')
  const bytes = typeof written === 'string' ? decode(written, 'base64url') : null
  if (bytes === null || bytes.length === 0) throw new Error("is an oct JWK whose 'k' is not base64url")
  return createSecretKey(bytes)
}

function textMember(jwk: JsonObject, name: 'kid' | 'alg'): string | null {
  const value = memberOf(jwk, name)
  if (value === undefined) return null
  if (typeof value === 'string') return value
  throw new Error(`is a JWK whose '${name}' is no text`)
}
