import type { KeyObject } from 'node:crypto'

/** Supported key management algorithms (RFC 7518 section 4). RSA1_5 and PBES2 are not supported. */
export const KEY_ALGORITHMS = [
  'RSA-OAEP-256',
  'RSA-OAEP-384',
  'RSA-OAEP-512',
  'ECDH-ES',
  'ECDH-ES+A128KW',
  'ECDH-ES+A256KW',
  'A128KW',
  'A256KW',
  'A128GCMKW',
  'A256GCMKW',
  'dir',
] as const

/** Content encryption algorithms (RFC 7518 section 5) and their key sizes in bytes. */
const KEY_BYTES = { A128GCM: 16, A256GCM: 32, 'A128CBC-HS256': 32, 'A256CBC-HS512': 64 } as const

/** Supported key management algorithm. */
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number]
/** Supported content encryption algorithm. */
export type Encryption = keyof typeof KEY_BYTES
/** Supported content encryption algorithms. */
export const ENCRYPTIONS = Object.keys(KEY_BYTES) as Encryption[]

const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1']

/** True if a key has the type and size that the algorithm needs. */
export function isKeyFor(alg: KeyAlgorithm, key: KeyObject, encryptions: readonly Encryption[]): boolean {
  if (alg.startsWith('RSA')) return key.asymmetricKeyType === 'rsa'
  if (alg.startsWith('ECDH')) {
    const isCurve = key.asymmetricKeyType === 'ec' && CURVES.includes(key.asymmetricKeyDetails?.namedCurve)
    return isCurve || key.asymmetricKeyType === 'x25519'
  }
  if (alg === 'dir') return encryptions.some((name) => KEY_BYTES[name] === key.symmetricKeySize)
  return key.symmetricKeySize === (alg.startsWith('A128') ? 16 : 32)
}

/**
 * True if the `alg` of a JWK allows the algorithm. For `dir` it names the content encryption (RFC 7520
 * section 5.6).
 */
export function isAllowedBy(
  alg: KeyAlgorithm,
  written: string | null,
  encryptions: readonly string[],
): boolean {
  if (written === null || written === alg) return true
  return alg === 'dir' && encryptions.includes(written)
}
