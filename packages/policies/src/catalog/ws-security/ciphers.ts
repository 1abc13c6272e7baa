import { createDecipheriv, createSecretKey } from 'node:crypto'
import { openGcm, sealCbc, sealGcm } from '../../crypto/cipher/aes.js'
import { SecurityFault } from './fault.js'

/** A way to encrypt data, as xenc:EncryptionMethod names it. */
export interface DataCipher {
  readonly name: string
  readonly uri: string
  readonly keyBytes: number
  readonly isCbc: boolean
}

const BLOCK_BYTES = 16

/** XML Encryption 1.1 section 5.2. CBC proves nothing about what it decrypts, so that it has to be asked for. */
const CIPHERS: readonly DataCipher[] = [128, 192, 256].flatMap((bits) => [
  cipher(`aes${bits}-gcm`, 'http://www.w3.org/2009/xmlenc11', bits),
  cipher(`aes${bits}-cbc`, 'http://www.w3.org/2001/04/xmlenc', bits),
])

function cipher(name: string, namespace: string, bits: number): DataCipher {
  return { name, uri: `${namespace}#${name}`, keyBytes: bits / 8, isCbc: name.endsWith('-cbc') }
}

/** The ciphers that a message may be encrypted with, by their URIs. */
export function dataCiphers(allowsCbc: boolean): ReadonlyMap<string, DataCipher> {
  const allowed = CIPHERS.filter(({ isCbc }) => allowsCbc || !isCbc)
  return new Map(allowed.map((one) => [one.uri, one]))
}

/** The cipher of that name. @throws Error when there is none */
export function dataCipher(name: string): DataCipher {
  const found = CIPHERS.find((one) => one.name === name)
  if (found === undefined) throw new Error(`'${name}' is not a cipher`)
  return found
}

/** What the standard puts into a CipherValue: IV, ciphertext and, for GCM, the tag. */
export function encryptData({ isCbc }: DataCipher, key: Buffer, plaintext: Uint8Array): Buffer {
  return (isCbc ? sealCbc : sealGcm)(createSecretKey(key), plaintext)
}

/** @throws SecurityFault, the same one whatever is wrong */
export function decryptData({ isCbc, keyBytes }: DataCipher, key: Buffer, value: Buffer): Buffer {
  const plaintext = isCbc ? openCbc(8 * keyBytes, key, value) : openGcm(createSecretKey(key), value)
  if (plaintext === null) throw undecryptable()
  return plaintext
}

/** The one fault of everything that has to do with decrypting. */
export function undecryptable(): SecurityFault {
  return new SecurityFault('FailedCheck', 'not decrypted')
}

/** Padding of the standard: only the last byte counts, it says how many there are. */
function openCbc(bits: number, key: Buffer, value: Buffer): Buffer | null {
  if (value.length < 2 * BLOCK_BYTES || value.length % BLOCK_BYTES !== 0) return null
  const iv = value.subarray(0, BLOCK_BYTES)
  const decryptor = createDecipheriv(`aes-${bits}-cbc`, key, iv).setAutoPadding(false)
  const padded = Buffer.concat([decryptor.update(value.subarray(BLOCK_BYTES)), decryptor.final()])
  const padding = padded[padded.length - 1]!
  return padding < 1 || padding > BLOCK_BYTES ? null : padded.subarray(0, padded.length - padding)
}
