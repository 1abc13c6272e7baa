import { timingSafeEqual } from 'node:crypto'
import { bodyDigest, type DigestName } from '../../crypto/digest/body-digest.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { parseDictionary } from '../../shared/structured-field/parser.js'
import { isInnerList } from '../../shared/structured-field/structured-field.js'

/** Secure digest algorithms (RFC 9530 section 5) and their names in node:crypto. */
const ALGORITHMS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const satisfies Record<string, DigestName>

/** Supported digest algorithm. */
export type DigestAlgorithm = keyof typeof ALGORITHMS

/** Returns the `content-digest` value for a body. Returns a promise only for large bodies. */
export function contentDigest(body: Uint8Array, algorithm: DigestAlgorithm): string | Promise<string> {
  return whenSettled(
    bodyDigest(ALGORITHMS[algorithm], body),
    (digest) => `${algorithm}=:${digest.toString('base64')}:`,
  )
}

/**
 * Returns true if a `content-digest` field matches a body. It needs at least one digest with a supported
 * algorithm, and all of these must be correct. Digests with other algorithms are ignored.
 */
export function matchesDigest(field: string, body: Uint8Array): boolean | Promise<boolean> {
  const claims = claimsOf(field)
  if (claims === null) return false
  const digests = claims.map(({ name }) => bodyDigest(name, body))
  const isRight = (actual: readonly Buffer[]): boolean =>
    actual.every((digest, i) => isSame(digest, claims[i]!.value))
  const isLarge = digests.some((digest) => digest instanceof Promise)
  return isLarge ? Promise.all(digests).then(isRight) : isRight(digests as Buffer[])
}

interface Claim {
  readonly name: DigestName
  readonly value: Buffer
}

/** Returns null if the field is malformed or has no supported digest. */
function claimsOf(field: string): Claim[] | null {
  const members = parseDictionary(field)
  if (members === null) return null
  const claims: Claim[] = []
  for (const [name, member] of members) {
    if (!Object.hasOwn(ALGORITHMS, name)) continue
    if (isInnerList(member) || member.item.type !== 'bytes') return null
    claims.push({ name: ALGORITHMS[name as DigestAlgorithm], value: member.item.value })
  }
  return claims.length === 0 ? null : claims
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
