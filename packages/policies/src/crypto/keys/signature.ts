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

/** A key with one algorithm, for signature checks. */
export interface SignatureCheck {
  verifies(input: Uint8Array, signature: Uint8Array): boolean
  /** Like `verifies`, but off the event loop unless that takes longer than the check. */
  verifiesLater(input: Uint8Array, signature: Uint8Array): Promise<boolean>
}

/** Signs an input. Returns a promise if that would block the event loop for too long. */
export type Signer = (input: Uint8Array) => Buffer | Promise<Buffer>

/**
 * Creates the check of an algorithm with a key. Synchronous node:crypto takes between a fifth and a half of the time
 * of WebCrypto, because no thread is involved.
 * @throws RangeError if the key type does not fit the algorithm.
 */
export function signatureCheck(name: SignatureAlgorithm, key: KeyObject): SignatureCheck {
  if (!isKeyFor(name, key)) throw new RangeError(`the key does not fit ${name}`)
  return checkWith(name, key)
}

/** Creates the signer of an algorithm with a private key or a secret. @throws RangeError like `signatureCheck`. */
export function signer(name: SignatureAlgorithm, key: KeyObject): Signer {
  if (!isKeyFor(name, key)) throw new RangeError(`does not fit ${name}`)
  return signerWith(name, key)
}

/** Signed data with its check. */
interface Signed {
  readonly check: SignatureCheck
  readonly input: Uint8Array
  readonly signature: Uint8Array
}

/** Creates a check that tries candidates in turn. Returns the first with a valid signature, or undefined. */
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

/**
 * Creates a check with a public key.
 * @throws Error if the key is unreadable, too weak or unsuitable for the algorithm.
 */
export function asymmetricCheck(
  name: SignatureAlgorithm,
  written: WrittenKey,
  form?: EcdsaForm,
): SignatureCheck {
  return checkWith(name, fittingKey(name, written, 'verify'), form)
}

/** Creates a signer with a private key. @throws Error like `asymmetricCheck`. */
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
      // The HMAC of a short input takes less time than starting a thread for it.
      verifiesLater: async (input, signature) =>
        fits(signature) && timingSafeEqual(await macOf(hash!, key, input), signature),
    }
  }
  const options = { key, ...signingOptions(name, form) }
  return {
    verifies: (input, signature) => fits(signature) && verifyNow(hash, input, options, signature),
    verifiesLater: async (input, signature) =>
      fits(signature) && verifyLater(hash, input, options, signature),
  }
}

/**
 * Creates the signer. RSA, the longer curves (a third of a millisecond and more) and long inputs use Node's thread
 * pool.
 */
function signerWith(name: SignatureAlgorithm, key: KeyObject, form?: EcdsaForm): Signer {
  const { family, hash } = algorithmNamed(name)
  if (family === 'hmac') return (input) => macOf(hash!, key, input)
  const options = { key, ...signingOptions(name, form) }
  const isFast = family === 'eddsa' || name === 'ES256'
  return (input) =>
    isFast && input.length < OFFLOAD_BYTES ? signNow(hash, input, options) : signLater(hash, input, options)
}

/** Loads the key for an algorithm. @throws Error if it does not fit. */
function fittingKey(name: SignatureAlgorithm, written: WrittenKey, purpose: 'verify' | 'sign'): KeyObject {
  // Valid `alg` values of a JWK: RFC 9864 introduced the name Ed25519.
  const algorithms = name === 'Ed25519' || name === 'EdDSA' ? ['Ed25519', 'EdDSA'] : [name]
  const key = asymmetricKey(written, { purpose, algorithms })
  // A key restricted to PSS must not be used with the older padding.
  const isForPss = algorithmNamed(name).family === 'pss' && key.asymmetricKeyType === 'rsa-pss'
  if (isForPss || isKeyFor(name, key)) return key
  const type = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType
  throw new Error(
    `key '${written.id}' has the type ${type}, which does not fit the algorithm; change one of them`,
  )
}

/** Returns the HMAC of an input. `hash` is a name of node:crypto. */
export function mac(hash: string, key: KeyObject, input: Uint8Array): Buffer {
  return createHmac(hash, key).update(input).digest()
}

/** Returns the HMAC of an input. Long inputs use Node's thread pool. */
function macOf(hash: string, key: KeyObject, input: Uint8Array): Buffer | Promise<Buffer> {
  return input.length < OFFLOAD_BYTES ? mac(hash, key, input) : macLater(hash, key, input)
}

/** Like `mac`, on Node's thread pool, for inputs that would block the event loop. */
export async function macLater(hash: string, key: KeyObject, input: Uint8Array): Promise<Buffer> {
  const algorithm = { name: 'HMAC', hash: hash.replace('sha', 'SHA-') }
  const imported = await webcrypto.subtle.importKey('raw', key.export(), algorithm, false, ['sign'])
  return Buffer.from(await webcrypto.subtle.sign('HMAC', imported, input))
}
