import { type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import { promisify } from 'node:util'
import {
  algorithmNamed,
  isKeyFor,
  type SignatureAlgorithm,
  signatureBytesOf,
  signingOptions,
} from '../keys/signature-algorithm.js'
import { mac, macLater } from './mac.js'

/** One key with one algorithm: the only way a signature is ever checked. */
export interface SignatureCheck {
  verifies(input: Uint8Array, signature: Uint8Array): boolean
  /** The same off the event loop, for long inputs. */
  verifiesLater(input: Uint8Array, signature: Uint8Array): Promise<boolean>
}

const verifyLater = promisify(verify)

/**
 * The check of an algorithm with a key. Synchronous: node:crypto needs a half to a fifth of the time that the way
 * through WebCrypto takes, because nothing waits for a thread.
 * @throws RangeError when the key is not of the kind that the algorithm needs.
 */
export function signatureCheck(name: SignatureAlgorithm, key: KeyObject): SignatureCheck {
  if (!isKeyFor(name, key)) throw new RangeError(`the key is not one for ${name}`)
  const { family, hash } = algorithmNamed(name)
  const length = signatureBytesOf(name, key)
  if (family === 'hmac') return macCheck(hash!, key, length)
  const verifier = { key, ...signingOptions(name) }
  return {
    verifies: (input, signature) => signature.length === length && verify(hash, input, verifier, signature),
    verifiesLater: async (input, signature) =>
      signature.length === length && verifyLater(hash, input, verifier, signature),
  }
}

function macCheck(hash: string, key: KeyObject, length: number): SignatureCheck {
  return {
    verifies: (input, signature) =>
      signature.length === length && timingSafeEqual(mac(hash, key, input), signature),
    verifiesLater: async (input, signature) =>
      signature.length === length && timingSafeEqual(await macLater(hash, key, input), signature),
  }
}
