import { createDecipheriv, createSecretKey } from 'node:crypto'
import { openGcm, sealCbc, sealGcm } from '@sluice/policies/crypto/cipher/aes'
import { SecurityFault } from './fault.js'

/** A data cipher, as in xenc:EncryptionMethod. */
export interface DataCipher {
  readonly name: string
  readonly uri: string
  readonly keyBytes: number
  readonly isCbc: boolean
}

const BLOCK_BYTES = 16

/**
 * Ciphers of XML Encryption 1.1 section 5.2. CBC does not authenticate data, so it must be enabled
 * explicitly.
 */
const CIPHERS: readonly DataCipher[] = [128, 192, 256].flatMap((bits) => [
  cipher(`aes${bits}-gcm`, 'http://www.w3.org/2009/xmlenc11', bits),
  cipher(`aes${bits}-cbc`, 'http://www.w3.org/2001/04/xmlenc', bits),
])

function cipher(name: string, namespace: string, bits: number): DataCipher {
  return { name, uri: `${namespace}#${name}`, keyBytes: bits / 8, isCbc: name.endsWith('-cbc') }
}

/** Returns the allowed ciphers by URI. */
export function dataCiphers(allowsCbc: boolean): ReadonlyMap<string, DataCipher> {
  const allowed = CIPHERS.filter(({ isCbc }) => allowsCbc || !isCbc)
  return new Map(allowed.map((one) => [one.uri, one]))
}

/** Returns the cipher with that name. @throws Error if there is none */
export function dataCipher(name: string): DataCipher {
  const found = CIPHERS.find((one) => one.name === name)
  if (found === undefined) throw new Error(`'${name}' is not a cipher`)
  return found
}

/** Encrypts data for a CipherValue: IV, ciphertext and, for GCM, the tag. */
export function encryptData({ isCbc }: DataCipher, key: Buffer, plaintext: Uint8Array): Buffer {
  return (isCbc ? sealCbc : sealGcm)(createSecretKey(key), plaintext)
}

/** Decrypts a CipherValue. @throws SecurityFault, the same one for every reason */
export function decryptData({ isCbc, keyBytes }: DataCipher, key: Buffer, value: Buffer): Buffer {
  const plaintext = isCbc ? openCbc(8 * keyBytes, key, value) : openGcm(createSecretKey(key), value)
  if (plaintext === null) throw undecryptable()
  return plaintext
}

/** Creates the single fault used for all decryption failures. */
export function undecryptable(): SecurityFault {
  return new SecurityFault('FailedCheck', 'cannot be decrypted')
}

/** Removes the padding of XML Encryption: only the last byte counts, the number of padding bytes. */
function openCbc(bits: number, key: Buffer, value: Buffer): Buffer | null {
  if (value.length < 2 * BLOCK_BYTES || value.length % BLOCK_BYTES !== 0) return null
  const iv = value.subarray(0, BLOCK_BYTES)
  const decryptor = createDecipheriv(`aes-${bits}-cbc`, key, iv).setAutoPadding(false)
  const padded = Buffer.concat([decryptor.update(value.subarray(BLOCK_BYTES)), decryptor.final()])
  const padding = padded[padded.length - 1]!
  return padding < 1 || padding > BLOCK_BYTES ? null : padded.subarray(0, padded.length - padding)
}
