import type { KeyObject } from 'node:crypto'
import { type JsonObject, memberOf, parseStrictObject } from '../../engines/json/strict-json.js'
import { importJwk, importPem } from './key-material.js'
import { type KeyUse, useFlaw } from './key-purpose.js'
import { MIN_RSA_BITS, MIN_RSA_EXPONENT } from './key-strength.js'

/** Above that a check takes milliseconds. */
const MAX_RSA_BITS = 8192

const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1'])

/** A key of the document; its id is for messages, which never hold the key. */
export interface WrittenKey {
  readonly id: string
  readonly key: string
}

/**
 * One half of a pair: the public one from PEM (a certificate too, whose dates are not looked at) or a JWK, the private
 * one from PEM without a passphrase or a JWK. The half that the purpose does not need is refused.
 * @throws Error when it cannot be read, or is too weak.
 */
export function asymmetricKey({ id, key }: WrittenKey, use: KeyUse): KeyObject {
  return named(`key '${id}'`, () => strong(read(key, use)))
}

function read(text: string, use: KeyUse): KeyObject {
  const isJwk = text.trimStart().startsWith('{')
  if (!isJwk && !text.includes('-----BEGIN ')) {
    throw new Error('is neither PEM nor a JWK; write for example ${file:keys/name.pem}')
  }
  if (text.includes('ENCRYPTED')) throw new Error('is encrypted; store it without a passphrase')
  if (!isJwk) return importPem(text, use.purpose)
  const jwk = jwkOf(text, use)
  if (memberOf(jwk, 'kty') === 'oct') throw new Error('is a secret, which is no half of a pair of keys')
  return importJwk(jwk, use.purpose).key
}

function strong(key: KeyObject): KeyObject {
  const type = key.asymmetricKeyType
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  if (type === 'rsa' || type === 'rsa-pss') {
    if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS) {
      throw new Error(
        `is an RSA key of ${modulusLength} bits; use ${MIN_RSA_BITS} to ${MAX_RSA_BITS}, better 3072`,
      )
    }
    if (publicExponent < MIN_RSA_EXPONENT)
      throw new Error('is an RSA key with a small exponent; make one with 65537')
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
 * Parses a JWK that may be used so.
 * @throws Error when the text is no JSON object whose names are all different, or the JWK is for something else.
 */
export function jwkOf(text: string, use: KeyUse): JsonObject {
  const jwk = parseStrictObject(Buffer.from(text))
  if (jwk === null) throw new Error('begins like a JWK and is not a JSON object that has each name once')
  const flaw = useFlaw(jwk, use)
  if (flaw !== null) throw new Error(flaw)
  return jwk
}

/** What `load` makes of a key. @throws its Error after the name of the key, without a cause that may repeat the key. */
export function named<T>(what: string, load: () => T): T {
  try {
    return load()
  } catch (error) {
    throw new Error(`${what} ${(error as Error).message}`)
  }
}
