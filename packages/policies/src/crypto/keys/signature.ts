import {
  createHmac,
  createSecretKey,
  type KeyObject,
  sign as signBytes,
  timingSafeEqual,
  verify as verifyBytes,
} from 'node:crypto'
import { promisify } from 'node:util'
import { asymmetricKey, type WrittenKey } from './asymmetric-key.js'
import {
  algorithmNamed,
  type EcdsaForm,
  isKeyFor,
  type SignatureAlgorithm,
  signingOptions,
} from './signature-algorithm.js'

const verifyLater = promisify(verifyBytes)

/** Whether the bytes carry this signature. */
export interface Verifier {
  (bytes: Uint8Array, signature: Uint8Array): boolean
  /** The same on a thread of libuv. */
  later(bytes: Uint8Array, signature: Uint8Array): Promise<boolean>
}
/** The signature of the bytes; a promise where it would hold up the event loop. */
export type Signer = (bytes: Uint8Array) => Buffer | Promise<Buffer>

/** Verifies with a public key. @throws Error when it cannot be read, is too weak, or is not one for the algorithm. */
export function asymmetricVerifier(
  name: SignatureAlgorithm,
  written: WrittenKey,
  form?: EcdsaForm,
): Verifier {
  const key = fitting(name, asymmetricKey(written, { purpose: 'verify', algorithms: namesOf(name) }), written)
  const { hash } = algorithmNamed(name)
  const input = { key, ...signingOptions(name, form) }
  return verifier(
    (bytes, signature) => verifyBytes(hash, bytes, input, signature),
    (bytes, signature) => verifyLater(hash, bytes, input, signature),
  )
}

/** Signs with a private key. What takes long (RSA, P-384) runs on the threads of libuv. @throws Error as above. */
export function asymmetricSigner(name: SignatureAlgorithm, written: WrittenKey, form?: EcdsaForm): Signer {
  const key = fitting(name, asymmetricKey(written, { purpose: 'sign', algorithms: namesOf(name) }), written)
  const { hash } = algorithmNamed(name)
  const input = { key, ...signingOptions(name, form) }
  if (name === 'Ed25519' || name === 'ES256') return (bytes) => signBytes(hash, bytes, input)
  return (bytes) =>
    new Promise((resolve, reject) => {
      signBytes(hash, bytes, input, (error, signature) => (error ? reject(error) : resolve(signature)))
    })
}

/** How the `alg` of a JWK may name an algorithm: RFC 9864 gave that of Ed25519 a name of its own. */
function namesOf(name: SignatureAlgorithm): readonly SignatureAlgorithm[] {
  return name === 'Ed25519' || name === 'EdDSA' ? ['Ed25519', 'EdDSA'] : [name]
}

/** @throws Error when the key is not one for the algorithm. */
function fitting(name: SignatureAlgorithm, key: KeyObject, { id }: WrittenKey): KeyObject {
  // A key that says it is for PSS alone may not be used with the older padding.
  const isForPss = algorithmNamed(name).family === 'pss' && key.asymmetricKeyType === 'rsa-pss'
  if (isForPss || isKeyFor(name, key)) return key
  const type = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType
  throw new Error(
    `key '${id}' is a key of type ${type}, which the algorithm does not take; change one of them`,
  )
}

/** Signs with a shared secret. */
export function hmacSigner(hash: string, secret: Uint8Array): (bytes: Uint8Array) => Buffer {
  const key = createSecretKey(secret)
  return (bytes) => createHmac(hash, key).update(bytes).digest()
}

/** Verifies with a shared secret, in constant time; a shortened signature is none. */
export function hmacVerifier(hash: string, secret: Uint8Array): Verifier {
  const sign = hmacSigner(hash, secret)
  const verify = (bytes: Uint8Array, signature: Uint8Array): boolean => {
    const expected = sign(bytes)
    return signature.length === expected.length && timingSafeEqual(expected, signature)
  }
  // A thread would be asked for longer than the work takes.
  return verifier(verify, async (bytes, signature) => verify(bytes, signature))
}

function verifier(now: (...args: Parameters<Verifier>) => boolean, later: Verifier['later']): Verifier {
  return Object.assign((bytes: Uint8Array, signature: Uint8Array) => now(bytes, signature), { later })
}
