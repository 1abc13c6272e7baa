import { hash, webcrypto } from 'node:crypto'

/** Body size in bytes from which hashing runs on a libuv thread. Below, the switch takes longer than hashing. */
export const POOL_BYTES = 128 * 1024

/** Hash algorithms for body signatures. */
export type DigestName = 'sha256' | 'sha512'

const WEB_NAMES = { sha256: 'SHA-256', sha512: 'SHA-512' } as const

/** Returns the digest of a body. Returns a promise only for large bodies. */
export function bodyDigest(name: DigestName, body: Uint8Array): Buffer | Promise<Buffer> {
  if (body.length < POOL_BYTES) return hash(name, body, 'buffer')
  return webcrypto.subtle.digest(WEB_NAMES[name], body).then((digest) => Buffer.from(digest))
}
