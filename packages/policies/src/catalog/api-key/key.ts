import { hash, randomBytes } from 'node:crypto'

/** Longest key that is looked at. */
export const MAX_KEY_LENGTH = 512
/** 256 bits: nothing to guess, so a plain digest protects the stored form. */
const KEY_BYTES = 32

/** The digest of a key as the configuration stores it: SHA-256 of its UTF-8 bytes, in hexadecimal. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/**
 * A new random key for a client, and its digest for the configuration. The key cannot be recovered later. Its prefix and its
 * last eight characters, the beginning of a digest of what stands before, let scanners for lost secrets tell it.
 */
export function newKey(): { readonly key: string; readonly sha256: string } {
  const random = `gw_${randomBytes(KEY_BYTES).toString('base64url')}`
  const key = `${random}_${hashKey(random).slice(0, 8)}`
  return { key, sha256: hashKey(key) }
}
