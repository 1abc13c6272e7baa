import { hash, randomBytes } from 'node:crypto'

/** Longest key that is looked at. */
export const MAX_KEY_LENGTH = 512
/** 256 bits: nothing to guess, so a plain digest protects the stored form. */
const KEY_BYTES = 32

/** The digest of a key as the configuration stores it: SHA-256 of its UTF-8 bytes, in hexadecimal. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** A new random key for a client, and its digest for the configuration. The key cannot be recovered later. */
export function newKey(): { readonly key: string; readonly sha256: string } {
  const key = `gw_${randomBytes(KEY_BYTES).toString('base64url')}`
  return { key, sha256: hashKey(key) }
}
