import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { SecurityFault } from './fault.js'

/** A way to encrypt data, as xenc:EncryptionMethod names it. */
export interface DataCipher {
  readonly name: string
  readonly uri: string
  readonly keyBytes: number
  readonly algorithm:
    | 'aes-128-gcm'
    | 'aes-192-gcm'
    | 'aes-256-gcm'
    | 'aes-128-cbc'
    | 'aes-192-cbc'
    | 'aes-256-cbc'
}

const GCM_IV_BYTES = 12
const GCM_TAG_BYTES = 16
const BLOCK_BYTES = 16

/** XML Encryption 1.1 section 5.2. CBC proves nothing about what it decrypts, so that it has to be asked for. */
const CIPHERS: readonly DataCipher[] = [
  {
    name: 'aes128-gcm',
    uri: 'http://www.w3.org/2009/xmlenc11#aes128-gcm',
    keyBytes: 16,
    algorithm: 'aes-128-gcm',
  },
  {
    name: 'aes192-gcm',
    uri: 'http://www.w3.org/2009/xmlenc11#aes192-gcm',
    keyBytes: 24,
    algorithm: 'aes-192-gcm',
  },
  {
    name: 'aes256-gcm',
    uri: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    keyBytes: 32,
    algorithm: 'aes-256-gcm',
  },
  {
    name: 'aes128-cbc',
    uri: 'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
    keyBytes: 16,
    algorithm: 'aes-128-cbc',
  },
  {
    name: 'aes192-cbc',
    uri: 'http://www.w3.org/2001/04/xmlenc#aes192-cbc',
    keyBytes: 24,
    algorithm: 'aes-192-cbc',
  },
  {
    name: 'aes256-cbc',
    uri: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
    keyBytes: 32,
    algorithm: 'aes-256-cbc',
  },
]

/** The ciphers that a message may be encrypted with, by their URIs. */
export function dataCiphers(allowsCbc: boolean): ReadonlyMap<string, DataCipher> {
  const allowed = CIPHERS.filter((cipher) => allowsCbc || !isCbc(cipher))
  return new Map(allowed.map((cipher) => [cipher.uri, cipher]))
}

/** The cipher of that name. @throws Error when there is none */
export function dataCipher(name: string): DataCipher {
  const found = CIPHERS.find((cipher) => cipher.name === name)
  if (found === undefined) throw new Error(`'${name}' is not a cipher`)
  return found
}

/** What the standard puts into a CipherValue: IV, ciphertext and, for GCM, the tag. */
export function encryptData(cipher: DataCipher, key: Buffer, plaintext: Uint8Array): Buffer {
  if (
    cipher.algorithm === 'aes-128-cbc' ||
    cipher.algorithm === 'aes-192-cbc' ||
    cipher.algorithm === 'aes-256-cbc'
  ) {
    const iv = randomBytes(BLOCK_BYTES)
    const encryptor = createCipheriv(cipher.algorithm, key, iv)
    return Buffer.concat([iv, encryptor.update(plaintext), encryptor.final()])
  }
  const iv = randomBytes(GCM_IV_BYTES)
  const encryptor = createCipheriv(cipher.algorithm, key, iv)
  const ciphertext = Buffer.concat([encryptor.update(plaintext), encryptor.final()])
  return Buffer.concat([iv, ciphertext, encryptor.getAuthTag()])
}

/** @throws SecurityFault, the same one whatever is wrong */
export function decryptData(cipher: DataCipher, key: Buffer, value: Buffer): Buffer {
  try {
    return isCbc(cipher) ? decryptCbc(cipher, key, value) : decryptGcm(cipher, key, value)
  } catch {
    throw undecryptable()
  }
}

/** The one fault of everything that has to do with decrypting. */
export function undecryptable(): SecurityFault {
  return new SecurityFault('FailedCheck', 'not decrypted')
}

function isCbc({ algorithm }: DataCipher): boolean {
  return algorithm.endsWith('-cbc')
}

function decryptGcm({ algorithm }: DataCipher, key: Buffer, value: Buffer): Buffer {
  if (value.length < GCM_IV_BYTES + GCM_TAG_BYTES) throw undecryptable()
  const end = value.length - GCM_TAG_BYTES
  const decryptor = createDecipheriv(algorithm as 'aes-256-gcm', key, value.subarray(0, GCM_IV_BYTES), {
    authTagLength: GCM_TAG_BYTES,
  })
  decryptor.setAuthTag(value.subarray(end))
  return Buffer.concat([decryptor.update(value.subarray(GCM_IV_BYTES, end)), decryptor.final()])
}

/** Padding of the standard: only the last byte counts, it says how many there are. */
function decryptCbc({ algorithm }: DataCipher, key: Buffer, value: Buffer): Buffer {
  if (value.length < 2 * BLOCK_BYTES || value.length % BLOCK_BYTES !== 0) throw undecryptable()
  const decryptor = createDecipheriv(algorithm, key, value.subarray(0, BLOCK_BYTES)).setAutoPadding(false)
  const padded = Buffer.concat([decryptor.update(value.subarray(BLOCK_BYTES)), decryptor.final()])
  const padding = padded[padded.length - 1]!
  if (padding < 1 || padding > BLOCK_BYTES) throw undecryptable()
  return padded.subarray(0, padded.length - padding)
}
