import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { KeyUse } from '../keys/key-purpose.js'
import type { KeyConfig } from '../keys/key-ring.js'
import { secretBytes } from '../keys/secret-key.js'
import type { Decryptor, Encryptor } from './encryptor.js'

const KEY_BYTES = 32
/**
 * Length of the IV in bytes. It is random per value, which is safe for 2^32 values per key (NIST SP 800-38D section
 * 8.3).
 */
const GCM_IV_BYTES = 12
const TAG_BYTES = 16
const CBC_IV_BYTES = 16

/** Creates an AES-256-GCM encryptor. Format of a value: `iv (12) | ciphertext | tag (16)`. */
export function gcmEncryptor(config: KeyConfig): Encryptor {
  const key = aesKey(config, { purpose: 'encrypt', algorithms: ['A256GCM'] })
  return (plain, context) => sealGcm(key, plain, context)
}

/** Creates the decryptor for `gcmEncryptor`. */
export function gcmDecryptor(config: KeyConfig): Decryptor {
  const key = aesKey(config, { purpose: 'decrypt', algorithms: ['A256GCM'] })
  return (sealed, context) => openGcm(key, sealed, context)
}

/** Encrypts with AES-GCM and a key of any length. Format: `iv (12) | ciphertext | tag (16)`. */
export function sealGcm(key: KeyObject, plain: Uint8Array, context?: Uint8Array): Buffer {
  const iv = randomBytes(GCM_IV_BYTES)
  const cipher = createCipheriv(gcmOf(key), key, iv, { authTagLength: TAG_BYTES })
  if (context !== undefined) cipher.setAAD(context)
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a value of `sealGcm`. Returns null if it is not authentic. */
export function openGcm(key: KeyObject, sealed: Uint8Array, context?: Uint8Array): Buffer | null {
  const tagAt = sealed.length - TAG_BYTES
  if (tagAt < GCM_IV_BYTES) return null
  const iv = sealed.subarray(0, GCM_IV_BYTES)
  const decipher = createDecipheriv(gcmOf(key), key, iv, { authTagLength: TAG_BYTES })
  if (context !== undefined) decipher.setAAD(context)
  decipher.setAuthTag(sealed.subarray(tagAt))
  const plain = decipher.update(sealed.subarray(GCM_IV_BYTES, tagAt))
  try {
    return Buffer.concat([plain, decipher.final()])
  } catch {
    return null
  }
}

function gcmOf(key: KeyObject): 'aes-256-gcm' {
  return `aes-${8 * key.symmetricKeySize!}-gcm` as 'aes-256-gcm'
}

/**
 * Encrypts with AES-CBC and PKCS #7 padding. Format: `iv (16) | ciphertext`. The value is not protected against
 * tampering.
 */
export function sealCbc(key: KeyObject, plain: Uint8Array): Buffer {
  const iv = randomBytes(CBC_IV_BYTES)
  const cipher = createCipheriv(`aes-${8 * key.symmetricKeySize!}-cbc`, key, iv)
  return Buffer.concat([iv, cipher.update(plain), cipher.final()])
}

/** Creates an AES-256-CBC encryptor. */
export function cbcEncryptor(config: KeyConfig): Encryptor {
  const key = aesKey(config, { purpose: 'encrypt', algorithms: ['A256CBC'] })
  return (plain) => sealCbc(key, plain)
}

/** Creates the decryptor for `cbcEncryptor`. */
export function cbcDecryptor(config: KeyConfig): Decryptor {
  const key = aesKey(config, { purpose: 'decrypt', algorithms: ['A256CBC'] })
  return (sealed) => {
    if (sealed.length < 2 * CBC_IV_BYTES || sealed.length % CBC_IV_BYTES !== 0) return null
    const decipher = createDecipheriv('aes-256-cbc', key, sealed.subarray(0, CBC_IV_BYTES))
    const plain = decipher.update(sealed.subarray(CBC_IV_BYTES))
    try {
      return Buffer.concat([plain, decipher.final()])
    } catch {
      return null
    }
  }
}

function aesKey({ id, key, encoding }: KeyConfig, use: KeyUse): KeyObject {
  const bytes = secretBytes(key, encoding ?? 'base64', use, `key '${id}'`)
  if (bytes.length !== KEY_BYTES)
    throw new Error(`key '${id}' has ${bytes.length} bytes; AES-256 needs ${KEY_BYTES} random bytes`)
  return createSecretKey(bytes)
}
