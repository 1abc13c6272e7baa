import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { jwkOf } from './jwk.js'

/** Smallest and largest RSA modulus: below it can be factored, above a check takes milliseconds. */
const RSA_BITS = { min: 2048, max: 8192 } as const
/** Smaller exponents have been the way into careless paddings. */
const MIN_RSA_EXPONENT = 65_537n

const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1'])

/**
 * A public key from PEM (a certificate too, whose dates are not looked at) or a JWK.
 * @param what names it in messages, which never hold the key.
 * @throws Error when it cannot be read, or is too weak.
 */
export function publicKey(text: string, what: string): KeyObject {
  return strong(read(text, what, createPublicKey, 'public'), what)
}

/** A private key from PEM without a passphrase or a JWK. @throws Error when it cannot be read, or is too weak. */
export function privateKey(text: string, what: string): KeyObject {
  return strong(read(text, what, createPrivateKey, 'private'), what)
}

type KeyInput = string | { readonly key: JsonWebKey; readonly format: 'jwk' }

function read(
  text: string,
  what: string,
  create: (input: KeyInput) => KeyObject,
  kind: 'public' | 'private',
): KeyObject {
  const isJwk = text.trimStart().startsWith('{')
  if (!isJwk && !text.includes('-----BEGIN ')) {
    throw new Error(`${what} is neither PEM nor a JWK; write for example \${file:keys/name.pem}`)
  }
  if (text.includes('ENCRYPTED')) throw new Error(`${what} is encrypted; store it without a passphrase`)
  const input: KeyInput = isJwk ? { key: jwkOf(text, what), format: 'jwk' } : text
  try {
    return create(input)
  } catch {
    // The cause is left out: OpenSSL and the JWK reader may repeat what they were given.
    throw new Error(`${what} cannot be read as a ${kind} key`)
  }
}

function strong(key: KeyObject, what: string): KeyObject {
  const type = key.asymmetricKeyType
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  if (type === 'rsa' || type === 'rsa-pss') {
    if (modulusLength < RSA_BITS.min || modulusLength > RSA_BITS.max) {
      throw new Error(
        `${what} is an RSA key of ${modulusLength} bits; use ${RSA_BITS.min} to ${RSA_BITS.max}, better 3072`,
      )
    }
    if (publicExponent < MIN_RSA_EXPONENT)
      throw new Error(`${what} is an RSA key with a small exponent; make one with 65537`)
    return key
  }
  if (type === 'ec') {
    if (!CURVES.has(namedCurve)) throw new Error(`${what} is on the curve ${namedCurve}; use P-256 or P-384`)
    return key
  }
  if (type === 'ed25519') return key
  throw new Error(`${what} is a key of type ${type}; use RSA, EC (P-256, P-384) or Ed25519`)
}
