import { hash, randomBytes } from 'node:crypto'

/** Maximum length of a key, in characters. */
export const MAX_KEY_LENGTH = 512
/**
 * Key length in bytes. 256 random bits cannot be guessed, so a plain digest is enough to protect stored keys.
 */
const KEY_BYTES = 32

/** Returns the digest of a key as stored in the configuration: SHA-256 of its UTF-8 bytes, in hexadecimal. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/**
 * Creates a random key for a client, and its digest for the configuration. The key cannot be recovered later.
 * Secret scanners recognise a key by its prefix and its last eight characters, a checksum of the rest.
 */
export function newKey(): { readonly key: string; readonly sha256: string } {
  const random = `gw_${randomBytes(KEY_BYTES).toString('base64url')}`
  const key = `${random}_${hashKey(random).slice(0, 8)}`
  return { key, sha256: hashKey(key) }
}
