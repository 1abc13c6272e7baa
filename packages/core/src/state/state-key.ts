import { createHash } from 'node:crypto'
import { toUSVString } from 'node:util'

/** UTF-16 units of a key that are kept as they are. */
const MAX_LENGTH = 200
/** Of a longer one, before its hash. */
const BEGINNING = 128

/**
 * A key as stores keep it: of bounded length, and the same text in UTF-8. What is too long or not well-formed becomes its
 * beginning and a SHA-256 of the whole.
 */
export function storedKey(key: string): string {
  if (key.length <= MAX_LENGTH && toUSVString(key) === key) return key
  const hash = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')
  return `${toUSVString(key.slice(0, BEGINNING))}~${hash}`
}
