import { createHash } from 'node:crypto'
import { toUSVString } from 'node:util'

/** Maximum length of a key that is stored unchanged, in UTF-16 units. */
const MAX_LENGTH = 200
/** Number of characters kept in front of the hash of a longer key. */
const BEGINNING = 128

/**
 * Returns a key as stores use it: bounded in length and valid UTF-8. A key that is too long or not
 * well-formed becomes its beginning and a SHA-256 of the whole.
 */
export function storedKey(key: string): string {
  if (key.length <= MAX_LENGTH && toUSVString(key) === key) return key
  const hash = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')
  return `${toUSVString(key.slice(0, BEGINNING))}~${hash}`
}
