import type { KeyObject } from 'node:crypto'
import { type JsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import { importJwk, importPem } from './key-material.js'
import { type KeyUse, useIssue } from './key-purpose.js'
import { MIN_RSA_BITS, MIN_RSA_EXPONENT } from './key-strength.js'

/** Maximum size of RSA keys in bits. Verification takes milliseconds above it. */
const MAX_RSA_BITS = 8192

const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1'])

/** A configured key and its id. Messages contain only the id. */
export interface WrittenKey {
  readonly id: string
  readonly key: string
}

/**
 * Loads one half of a key pair: a public key from PEM or JWK, or a private key from PEM without a passphrase or JWK.
 * The PEM may be a certificate; its validity dates are ignored. The half that the purpose does not need is refused.
 * @throws Error if the key is unreadable or too weak.
 */
export function asymmetricKey({ id, key }: WrittenKey, use: KeyUse): KeyObject {
  return withKeyName(`key '${id}'`, () => strong(read(key, use)))
}

function read(text: string, use: KeyUse): KeyObject {
  const isJwk = text.trimStart().startsWith('{')
  if (!isJwk && !text.includes('-----BEGIN '))
    throw new Error('is neither PEM nor a JWK; use a reference such as ${file:keys/name.pem}')
  if (text.includes('ENCRYPTED')) throw new Error('is encrypted; store it without a passphrase')
  if (!isJwk) return importPem(text, use.purpose)
  const jwk = jwkOf(text, use)
  if (memberOf(jwk, 'kty') === 'oct') throw new Error('is a symmetric key; an asymmetric one is required')
  return importJwk(jwk, use.purpose).key
}

function strong(key: KeyObject): KeyObject {
  const type = key.asymmetricKeyType
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  if (type === 'rsa' || type === 'rsa-pss') {
    if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS)
      throw new Error(
        `is an RSA key of ${modulusLength} bits; use ${MIN_RSA_BITS} to ${MAX_RSA_BITS}, preferably 3072`,
      )
    if (publicExponent < MIN_RSA_EXPONENT) throw new Error('is an RSA key with a small exponent; use 65537')
    return key
  }
  if (type === 'ec') {
    if (!CURVES.has(namedCurve)) throw new Error(`is on the curve ${namedCurve}; use P-256 or P-384`)
    return key
  }
  if (type === 'ed25519') return key
  throw new Error(`is a key of type ${type}; use RSA, EC (P-256, P-384) or Ed25519`)
}

/**
 * Parses a JWK that allows the use.
 * @throws Error if the text is not a JSON object without duplicate names, or the JWK is for another use.
 */
export function jwkOf(text: string, use: KeyUse): JsonObject {
  const jwk = parseStrictObject(Buffer.from(text))
  if (jwk === null) throw new Error('looks like a JWK, but is not a JSON object or has duplicate names')
  const issue = useIssue(jwk, use)
  if (issue !== null) throw new Error(issue)
  return jwk
}

/**
 * Runs `load` and prefixes its error with the name of the key. The cause is omitted, because it may contain the key.
 * @throws Error
 */
export function withKeyName<T>(what: string, load: () => T): T {
  try {
    return load()
  } catch (error) {
    throw new Error(`${what} ${(error as Error).message}`)
  }
}
