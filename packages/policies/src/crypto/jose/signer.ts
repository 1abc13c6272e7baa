import { type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { OFFLOAD_BYTES } from '@sluice/core'
import {
  algorithmNamed,
  isKeyFor,
  type SignatureAlgorithm,
  signingOptions,
} from '../keys/signature-algorithm.js'
import { mac, macLater } from './mac.js'

/** Makes the signature of an input; a promise where that takes long enough to hold up others. */
export type Signer = (input: Uint8Array) => Buffer | Promise<Buffer>

const signLater = promisify(sign)

/**
 * The signer of an algorithm with a private key or a secret. RSA, a third of a millisecond and more, and long inputs go
 * to the threads of Node's pool.
 * @throws RangeError when the key is not of the kind that the algorithm needs.
 */
export function signer(name: SignatureAlgorithm, key: KeyObject): Signer {
  if (!isKeyFor(name, key)) throw new RangeError(`is not a key for ${name}`)
  const { family, hash } = algorithmNamed(name)
  if (family === 'hmac')
    return (input) => (input.length < OFFLOAD_BYTES ? mac(hash!, key, input) : macLater(hash!, key, input))
  const options = { key, ...signingOptions(name) }
  const isSlow = key.asymmetricKeyType === 'rsa'
  return (input) =>
    isSlow || input.length >= OFFLOAD_BYTES ? signLater(hash, input, options) : sign(hash, input, options)
}
