import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { decode } from '../../shared/encoding/byte-text.js'
import { type JsonObject, memberOf } from '../../shared/json/strict-json.js'
import { isPrivateJwk, isPrivatePem, type KeyPurpose, keyHalfIssue, purposeIssue } from './key-purpose.js'

/** A key with the metadata of its JWK. */
export interface KeyMaterial {
  readonly key: KeyObject
  readonly kid: string | null
  /** Algorithm of the JWK, or null. */
  readonly alg: string | null
  /** Issuer of the key, if the JWK names one. This member is not part of RFC 7517. */
  readonly issuer?: string
}

/** Imports a JWK (RFC 7517). @throws Error that says what is wrong, without secrets. */
export function importJwk(jwk: JsonObject, purpose: KeyPurpose): KeyMaterial {
  const kid = textMember(jwk, 'kid')
  const alg = textMember(jwk, 'alg')
  const misuse = purposeIssue(jwk, purpose)
  if (misuse !== null) throw new Error(misuse)
  if (memberOf(jwk, 'kty') === 'oct') return { key: importSecret(jwk), kid, alg }
  const input = { key: jwk as JsonWebKey, format: 'jwk' } as const
  const unreadable = 'is an unreadable JWK; it needs a supported kty and crv, and the members of its type'
  const issuer = memberOf(jwk, 'issuer')
  const key = halfOf(input, isPrivateJwk(jwk), purpose, unreadable)
  return { key, kid, alg, ...(typeof issuer === 'string' && { issuer }) }
}

/**
 * Imports a key or certificate as PEM. The validity dates of a certificate are ignored.
 * @throws Error like `importJwk`.
 */
export function importPem(pem: string, purpose: KeyPurpose): KeyObject {
  if (!pem.includes('-----BEGIN ')) throw new Error('is not PEM: the line -----BEGIN …----- is missing')
  const isPrivate = isPrivatePem(pem)
  const half = isPrivate ? 'private' : 'public'
  return halfOf(
    pem,
    isPrivate,
    purpose,
    `is not readable as a ${half} key in PEM; keys with a passphrase are not supported`,
  )
}

type KeyInput = string | { readonly key: JsonWebKey; readonly format: 'jwk' }

function halfOf(input: KeyInput, isPrivate: boolean, purpose: KeyPurpose, unreadable: string): KeyObject {
  const issue = keyHalfIssue(isPrivate, purpose)
  if (issue !== null) throw new Error(issue)
  try {
    return isPrivate ? createPrivateKey(input) : createPublicKey(input)
  } catch {
    // The cause is omitted, because OpenSSL and the JWK parser may quote the key.
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
  throw new Error(`is a JWK whose '${name}' is not a text`)
}
