import { privateKey, publicKey } from '../keys/asymmetric-key.js'
import { type SecretEncoding, secretBytes } from '../keys/secret-key.js'
import {
  assertFits,
  asymmetricSigner,
  asymmetricVerifier,
  hmacSigner,
  hmacVerifier,
  SIGNATURE_ALGORITHMS,
  type Signer,
  type Verifier,
} from '../keys/signature-algorithm.js'

/** The registered names (RFC 9421 section 6.2). */
export const HTTP_ALGORITHMS = {
  ed25519: SIGNATURE_ALGORITHMS.Ed25519,
  'ecdsa-p256-sha256': SIGNATURE_ALGORITHMS.ES256,
  'ecdsa-p384-sha384': SIGNATURE_ALGORITHMS.ES384,
  'hmac-sha256': SIGNATURE_ALGORITHMS.HS256,
  'rsa-pss-sha512': SIGNATURE_ALGORITHMS.PS512,
  'rsa-v1_5-sha256': SIGNATURE_ALGORITHMS.RS256,
} as const

export type HttpAlgorithm = keyof typeof HTTP_ALGORITHMS

/** A key of the document. */
export interface KeyConfig {
  readonly id: string
  readonly algorithm: HttpAlgorithm
  readonly key: string
  readonly encoding?: SecretEncoding
}

/** @throws Error when the key cannot be read, is weak, or is not one for its algorithm. */
export function compileVerifier(config: KeyConfig): Verifier {
  const what = `key '${config.id}'`
  const algorithm = HTTP_ALGORITHMS[config.algorithm]
  if (algorithm.kind === 'hmac') {
    return hmacVerifier(algorithm.hash, secretBytes(config.key, config.encoding ?? 'utf8', what))
  }
  assertNoEncoding(config)
  const key = publicKey(config.key, what)
  assertFits(algorithm, key, what)
  return asymmetricVerifier(algorithm, key)
}

/** @throws Error as `compileVerifier`. */
export function compileSigner(config: KeyConfig): Signer {
  const what = `key '${config.id}'`
  const algorithm = HTTP_ALGORITHMS[config.algorithm]
  if (algorithm.kind === 'hmac') {
    return hmacSigner(algorithm.hash, secretBytes(config.key, config.encoding ?? 'utf8', what))
  }
  assertNoEncoding(config)
  const key = privateKey(config.key, what)
  assertFits(algorithm, key, what)
  return asymmetricSigner(algorithm, key)
}

function assertNoEncoding({ id, encoding }: KeyConfig): void {
  if (encoding !== undefined) throw new Error(`'encoding' of key '${id}' is for hmac-sha256 only; remove it`)
}
