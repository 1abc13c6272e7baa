import type { KeyObject } from 'node:crypto'
import { algorithmNamed, type SignatureAlgorithm, signatureBytesOf } from './signature-algorithm.js'

/** Minimum size of RSA keys in bits. A smaller modulus can be factored. */
export const MIN_RSA_BITS = 2048
/** Minimum RSA exponent. Smaller ones have made sloppy paddings exploitable. */
export const MIN_RSA_EXPONENT = 65_537n

/** Returns why a key is too weak for an algorithm (RFC 7518 sections 3.2 and 3.3), or null. */
export function weaknessOf(key: KeyObject, name: SignatureAlgorithm): string | null {
  if (algorithmNamed(name).family !== 'hmac') return rsaWeaknessOf(key)
  const needed = signatureBytesOf(name, key)
  const bytes = key.symmetricKeySize ?? 0
  return bytes < needed ? `is a secret of ${bytes} bytes; ${name} needs at least ${needed}` : null
}

/** Returns why an RSA key is too weak, or null. Other keys are never too weak. */
export function rsaWeaknessOf(key: KeyObject): string | null {
  if (key.asymmetricKeyType !== 'rsa') return null
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (modulusLength < MIN_RSA_BITS)
    return `is an RSA key of ${modulusLength} bits; use ${MIN_RSA_BITS} or more`
  return publicExponent < MIN_RSA_EXPONENT
    ? `is an RSA key with the exponent ${publicExponent}; use 65537`
    : null
}

/** Returns true for an exponent with which anybody can sign. No option allows it. */
export function hasInsecureExponent(key: KeyObject): boolean {
  const exponent = key.asymmetricKeyDetails?.publicExponent
  return key.asymmetricKeyType === 'rsa' && exponent !== undefined && (exponent < 3n || exponent % 2n === 0n)
}
