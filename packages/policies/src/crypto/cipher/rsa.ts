import {
  constants,
  createSecretKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  webcrypto,
} from 'node:crypto'
import { asymmetricKey } from '../keys/asymmetric-key.js'
import type { KeyConfig } from '../keys/key-ring.js'
import { openGcm, sealGcm } from './aes.js'
import type { Decryptor, Encryptor } from './encryptor.js'

/** Bytes of a block that OAEP with SHA-256 uses for itself. */
const OAEP_OVERHEAD = 66
const PKCS1_OVERHEAD = 11
const CONTENT_KEY_BYTES = 32

/** Creates an RSA-OAEP encryptor with SHA-256 for hash and mask. For short values: 190 bytes with a 2048-bit key. */
export function oaepEncryptor(config: KeyConfig): Encryptor {
  const key = rsaPublic(config, 'RSA-OAEP-256')
  const longest = blockBytes(key) - OAEP_OVERHEAD
  return (plain, context) => (plain.length > longest ? null : oaepEncrypt(key, plain, context))
}

/**
 * Creates the decryptor for `oaepEncryptor`. It runs off the event loop, because a private-key operation takes most
 * of a millisecond.
 */
export async function oaepDecryptor(config: KeyConfig): Promise<Decryptor> {
  const key = rsaPrivate(config, 'RSA-OAEP-256')
  const block = blockBytes(key)
  const decrypt = await oaepDecrypt(key)
  return (sealed, context) => (sealed.length === block ? decrypt(sealed, context) : null)
}

/**
 * Creates an encryptor with a new AES-256-GCM key per value, wrapped with RSA-OAEP. Format: `wrapped key | iv |
 * ciphertext | tag`.
 */
export function hybridEncryptor(config: KeyConfig): Encryptor {
  const key = rsaPublic(config, 'RSA-OAEP-256')
  return (plain, context) => {
    const contentKey = randomBytes(CONTENT_KEY_BYTES)
    const wrapped = oaepEncrypt(key, contentKey, context)
    return Buffer.concat([wrapped, sealGcm(createSecretKey(contentKey), plain, context)])
  }
}

/** Creates the decryptor for `hybridEncryptor`. */
export async function hybridDecryptor(config: KeyConfig): Promise<Decryptor> {
  const key = rsaPrivate(config, 'RSA-OAEP-256')
  const block = blockBytes(key)
  const unwrap = await oaepDecrypt(key)
  return async (sealed, context) => {
    if (sealed.length <= block) return null
    const contentKey = await unwrap(sealed.subarray(0, block), context)
    if (contentKey === null || contentKey.length !== CONTENT_KEY_BYTES) return null
    return openGcm(createSecretKey(contentKey), sealed.subarray(block), context)
  }
}

/** Creates an RSA encryptor with PKCS #1 v1.5 padding. */
export function rsa15Encryptor(config: KeyConfig): Encryptor {
  const key = rsaPublic(config, 'RSA1_5')
  const longest = blockBytes(key) - PKCS1_OVERHEAD
  return (plain) =>
    plain.length > longest ? null : publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, plain)
}

/**
 * Creates an RSA decryptor with PKCS #1 v1.5 padding. It requires an OpenSSL that returns random bytes for invalid
 * padding. An error would be a padding oracle.
 * @throws Error if the OpenSSL of this Node.js reports an error instead.
 */
export function rsa15Decryptor(config: KeyConfig): Decryptor {
  const key = rsaPrivate(config, 'RSA1_5')
  const input = { key, padding: constants.RSA_PKCS1_PADDING }
  try {
    privateDecrypt(input, randomBlock(key))
  } catch (cause) {
    throw new Error("'weak-rsa1_5' cannot be decrypted safely by this Node.js; use rsa-oaep-256", { cause })
  }
  return (sealed) => {
    try {
      return privateDecrypt(input, sealed)
    } catch {
      return null
    }
  }
}

/** Returns a random block below the modulus, almost certainly with invalid padding. */
function randomBlock(key: KeyObject): Buffer {
  const block = randomBytes(blockBytes(key))
  block[0] = 0
  return block
}

function oaepEncrypt(key: KeyObject, plain: Uint8Array, context: Uint8Array): Buffer {
  return publicEncrypt(
    { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256', oaepLabel: context },
    plain,
  )
}

type OaepDecrypt = (sealed: Uint8Array, context: Uint8Array) => Promise<Uint8Array | null>

async function oaepDecrypt(key: KeyObject): Promise<OaepDecrypt> {
  const algorithm = { name: 'RSA-OAEP', hash: 'SHA-256' }
  const der = key.export({ type: 'pkcs8', format: 'der' })
  const imported = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['decrypt'])
  return async (sealed, context) => {
    try {
      return new Uint8Array(
        await webcrypto.subtle.decrypt({ name: 'RSA-OAEP', label: context }, imported, sealed),
      )
    } catch {
      return null
    }
  }
}

type RsaAlgorithm = 'RSA-OAEP-256' | 'RSA1_5'

function rsaPublic(config: KeyConfig, alg: RsaAlgorithm): KeyObject {
  return rsa(asymmetricKey(config, { purpose: 'encrypt', algorithms: [alg] }), config)
}

function rsaPrivate(config: KeyConfig, alg: RsaAlgorithm): KeyObject {
  return rsa(asymmetricKey(config, { purpose: 'decrypt', algorithms: [alg] }), config)
}

function rsa(key: KeyObject, { id }: KeyConfig): KeyObject {
  if (key.asymmetricKeyType === 'rsa') return key
  throw new Error(`key '${id}' is a key of type ${key.asymmetricKeyType}; this algorithm needs RSA`)
}

function blockBytes(key: KeyObject): number {
  return Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8)
}
