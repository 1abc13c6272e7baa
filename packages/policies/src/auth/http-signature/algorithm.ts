import { createSecretKey, type KeyObject } from 'node:crypto'
import type { KeyPurpose } from '../../crypto/keys/key-purpose.js'
import { type SecretEncoding, secretBytes } from '../../crypto/keys/secret-key.js'
import {
  asymmetricCheck,
  asymmetricSigner,
  type SignatureCheck,
  type Signer,
  signatureCheck,
  signer,
} from '../../crypto/keys/signature.js'

/** Registered names of asymmetric algorithms (RFC 9421 section 6.2) and their JOSE names. */
const ASYMMETRIC = {
  ed25519: 'Ed25519',
  'ecdsa-p256-sha256': 'ES256',
  'ecdsa-p384-sha384': 'ES384',
  'rsa-pss-sha512': 'PS512',
  'rsa-v1_5-sha256': 'RS256',
} as const

/** A configured key. */
export interface KeyConfig {
  readonly id: string
  readonly algorithm: keyof typeof ASYMMETRIC | 'hmac-sha256'
  readonly key: string
  readonly encoding?: SecretEncoding
}

/**
 * Compiles the verification with a key. @throws Error if the key cannot be read, is weak or does not fit its
 * algorithm.
 */
export function compileCheck(config: KeyConfig): SignatureCheck {
  const { algorithm } = config
  if (algorithm === 'hmac-sha256') return signatureCheck('HS256', secretOf(config, 'verify'))
  return asymmetricCheck(ASYMMETRIC[algorithm], withoutEncoding(config))
}

/** Compiles the signing with a key. @throws Error like `compileCheck`. */
export function compileSigner(config: KeyConfig): Signer {
  const { algorithm } = config
  if (algorithm === 'hmac-sha256') return signer('HS256', secretOf(config, 'sign'))
  return asymmetricSigner(ASYMMETRIC[algorithm], withoutEncoding(config))
}

function secretOf({ id, key, encoding = 'utf8' }: KeyConfig, purpose: KeyPurpose): KeyObject {
  return createSecretKey(secretBytes(key, encoding, { purpose, algorithms: ['HS256'] }, `key '${id}'`))
}

function withoutEncoding(config: KeyConfig): KeyConfig {
  if (config.encoding === undefined) return config
  throw new Error(`'encoding' of key '${config.id}' is only for hmac-sha256; remove it`)
}
