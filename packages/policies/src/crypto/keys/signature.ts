import {
  createHmac,
  type KeyObject,
  sign as signNow,
  timingSafeEqual,
  verify as verifyNow,
  webcrypto,
} from 'node:crypto'
import { promisify } from 'node:util'
import { OFFLOAD_BYTES } from '@sluice/core'
import { asymmetricKey, type WrittenKey } from './asymmetric-key.js'
import {
  algorithmNamed,
  type EcdsaForm,
  isKeyFor,
  type SignatureAlgorithm,
  signatureBytesOf,
  signingOptions,
} from './signature-algorithm.js'
import type { Check } from './signature-checks.js'

const verifyLater = promisify(verifyNow)
const signLater = promisify(signNow)

/** One key with one algorithm: the only way a signature is ever checked. */
export interface SignatureCheck {
  verifies(input: Uint8Array, signature: Uint8Array): boolean
  /** The same off the event loop. */
  verifiesLater(input: Uint8Array, signature: Uint8Array): Promise<boolean>
}

/** Makes the signature of an input; a promise where that takes long enough to hold up others. */
export type Signer = (input: Uint8Array) => Buffer | Promise<Buffer>

/**
 * The check of an algorithm with a key. Synchronous: node:crypto needs a half to a fifth of the time that the way
 * through WebCrypto takes, because nothing waits for a thread.
 * @throws RangeError when the key is not of the kind that the algorithm needs.
 */
export function signatureCheck(name: SignatureAlgorithm, key: KeyObject): SignatureCheck {
  if (!isKeyFor(name, key)) throw new RangeError(`the key is not one for ${name}`)
  return checkWith(name, key)
}

/** The signer of an algorithm with a private key or a secret. @throws RangeError as `signatureCheck`. */
export function signer(name: SignatureAlgorithm, key: KeyObject): Signer {
  if (!isKeyFor(name, key)) throw new RangeError(`is not a key for ${name}`)
  return signerWith(name, key)
}

/** Something with a signature, and the check for it. */
interface Signed {
  readonly check: SignatureCheck
  readonly input: Uint8Array
  readonly signature: Uint8Array
}

/** Tries candidates in turn. The first whose signature is right; undefined: there is none. */
export function firstVerified<T>(
  candidates: readonly T[],
  signedOf: (candidate: T) => Signed,
): Check<T | undefined> {
  return {
    now: () =>
      candidates.find((candidate) => {
        const { check, input, signature } = signedOf(candidate)
        return check.verifies(input, signature)
      }),
    async later() {
      for (const candidate of candidates) {
        const { check, input, signature } = signedOf(candidate)
        if (await check.verifiesLater(input, signature)) return candidate
      }
      return undefined
    },
  }
}

/** Verifies with a public key. @throws Error when it cannot be read, is too weak, or is not one for the algorithm. */
export function asymmetricCheck(
  name: SignatureAlgorithm,
  written: WrittenKey,
  form?: EcdsaForm,
): SignatureCheck {
  return checkWith(name, fittingKey(name, written, 'verify'), form)
}

/** Signs with a private key. @throws Error as `asymmetricCheck`. */
export function asymmetricSigner(name: SignatureAlgorithm, written: WrittenKey, form?: EcdsaForm): Signer {
  return signerWith(name, fittingKey(name, written, 'sign'), form)
}

function checkWith(name: SignatureAlgorithm, key: KeyObject, form?: EcdsaForm): SignatureCheck {
  const { family, hash } = algorithmNamed(name)
  const length = signatureBytesOf(name, key)
  const fits = (signature: Uint8Array): boolean => form === 'der' || signature.length === length
  if (family === 'hmac') {
    return {
      verifies: (input, signature) => fits(signature) && timingSafeEqual(mac(hash!, key, input), signature),
      verifiesLater: async (input, signature) =>
        fits(signature) && timingSafeEqual(await macLater(hash!, key, input), signature),
    }
  }
  const options = { key, ...signingOptions(name, form) }
  return {
    verifies: (input, signature) => fits(signature) && verifyNow(hash, input, options, signature),
    verifiesLater: async (input, signature) =>
      fits(signature) && verifyLater(hash, input, options, signature),
  }
}

/** RSA and the longer curves, a third of a millisecond and more, and long inputs go to the threads of Node's pool. */
function signerWith(name: SignatureAlgorithm, key: KeyObject, form?: EcdsaForm): Signer {
  const { family, hash } = algorithmNamed(name)
  if (family === 'hmac')
    return (input) => (input.length < OFFLOAD_BYTES ? mac(hash!, key, input) : macLater(hash!, key, input))
  const options = { key, ...signingOptions(name, form) }
  const isFast = family === 'eddsa' || name === 'ES256'
  return (input) =>
    isFast && input.length < OFFLOAD_BYTES ? signNow(hash, input, options) : signLater(hash, input, options)
}

/** @throws Error when the key is not one for the algorithm. */
function fittingKey(name: SignatureAlgorithm, written: WrittenKey, purpose: 'verify' | 'sign'): KeyObject {
  // How the `alg` of a JWK may name it: RFC 9864 gave that of Ed25519 a name of its own.
  const algorithms = name === 'Ed25519' || name === 'EdDSA' ? ['Ed25519', 'EdDSA'] : [name]
  const key = asymmetricKey(written, { purpose, algorithms })
  // A key that says it is for PSS alone may not be used with the older padding.
  const isForPss = algorithmNamed(name).family === 'pss' && key.asymmetricKeyType === 'rsa-pss'
  if (isForPss || isKeyFor(name, key)) return key
  const type = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType
  throw new Error(
    `key '${written.id}' is a key of type ${type}, which the algorithm does not take; change one of them`,
  )
}

/** The HMAC of an input. `hash` is the name that node:crypto has for it. */
export function mac(hash: string, key: KeyObject, input: Uint8Array): Buffer {
  return createHmac(hash, key).update(input).digest()
}

/** The same on a thread of Node's pool, for inputs that would hold up the requests of others. */
export async function macLater(hash: string, key: KeyObject, input: Uint8Array): Promise<Buffer> {
  const algorithm = { name: 'HMAC', hash: hash.replace('sha', 'SHA-') }
  const imported = await webcrypto.subtle.importKey('raw', key.export(), algorithm, false, ['sign'])
  return Buffer.from(await webcrypto.subtle.sign('HMAC', imported, input))
}
