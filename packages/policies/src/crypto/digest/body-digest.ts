import { hash, webcrypto } from 'node:crypto'

/** From this size on bodies are hashed on a thread of libuv: below, going there takes longer than hashing. */
export const POOL_BYTES = 128 * 1024

/** The hashes that bodies are signed with. */
export type DigestName = 'sha256' | 'sha512'

const WEB_NAMES = { sha256: 'SHA-256', sha512: 'SHA-512' } as const

/** The digest of a body; a promise only for large ones. */
export function bodyDigest(name: DigestName, body: Uint8Array): Buffer | Promise<Buffer> {
  if (body.length < POOL_BYTES) return hash(name, body, 'buffer')
  return webcrypto.subtle.digest(WEB_NAMES[name], body).then((digest) => Buffer.from(digest))
}
