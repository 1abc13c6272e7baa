import { hash, timingSafeEqual } from 'node:crypto'
import { parseDictionary } from '../structured-field/parser.js'
import { isInnerList } from '../structured-field/structured-field.js'

/** The digests that still keep what they promise (RFC 9530 section 5), and their names in node:crypto. */
const ALGORITHMS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

export type DigestAlgorithm = keyof typeof ALGORITHMS

/** A `content-digest` field for a body. */
export function contentDigest(body: Uint8Array, algorithm: DigestAlgorithm): string {
  return `${algorithm}=:${hash(ALGORITHMS[algorithm], body, 'base64')}:`
}

/**
 * Whether a `content-digest` field is right about a body: it needs at least one digest of a known algorithm, and all of
 * those have to be right. Digests of other algorithms prove nothing and are not looked at.
 */
export function matchesDigest(field: string, body: Uint8Array): boolean {
  const digests = parseDictionary(field)
  if (digests === null) return false
  let known = 0
  for (const [name, member] of digests) {
    if (!Object.hasOwn(ALGORITHMS, name)) continue
    if (isInnerList(member) || member.item.type !== 'bytes') return false
    const expected = hash(ALGORITHMS[name as DigestAlgorithm], body, 'buffer')
    const { value } = member.item
    if (value.length !== expected.length || !timingSafeEqual(value, expected)) return false
    known++
  }
  return known > 0
}
