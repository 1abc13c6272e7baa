import { constants, type KeyObject, type SigningOptions } from 'node:crypto'

interface Algorithm {
  readonly family: 'hmac' | 'rsa' | 'pss' | 'ecdsa' | 'eddsa'
  /** Hash name in node:crypto, or null if the algorithm includes one. */
  readonly hash: string | null
  /** Length of a signature in bytes, or 0 for the length of the modulus. */
  readonly signatureBytes: number
  /** Curve name in node:crypto. */
  readonly curve?: string
}

/** The secure algorithms of RFC 7518 section 3.1, RFC 8037 and RFC 9864. `none` is not supported. */
const ALGORITHMS = {
  ES256: { family: 'ecdsa', hash: 'sha256', signatureBytes: 64, curve: 'prime256v1' },
  ES384: { family: 'ecdsa', hash: 'sha384', signatureBytes: 96, curve: 'secp384r1' },
  ES512: { family: 'ecdsa', hash: 'sha512', signatureBytes: 132, curve: 'secp521r1' },
  EdDSA: { family: 'eddsa', hash: null, signatureBytes: 64 },
  Ed25519: { family: 'eddsa', hash: null, signatureBytes: 64 },
  PS256: { family: 'pss', hash: 'sha256', signatureBytes: 0 },
  PS384: { family: 'pss', hash: 'sha384', signatureBytes: 0 },
  PS512: { family: 'pss', hash: 'sha512', signatureBytes: 0 },
  RS256: { family: 'rsa', hash: 'sha256', signatureBytes: 0 },
  RS384: { family: 'rsa', hash: 'sha384', signatureBytes: 0 },
  RS512: { family: 'rsa', hash: 'sha512', signatureBytes: 0 },
  HS256: { family: 'hmac', hash: 'sha256', signatureBytes: 32 },
  HS384: { family: 'hmac', hash: 'sha384', signatureBytes: 48 },
  HS512: { family: 'hmac', hash: 'sha512', signatureBytes: 64 },
} as const satisfies Readonly<Record<string, Algorithm>>

/** Name of a signature algorithm, as in `alg`. */
export type SignatureAlgorithm = keyof typeof ALGORITHMS

/** Format of ECDSA signatures: concatenated numbers (RFC 7518), or ASN.1 as in OpenSSL and Java. */
export type EcdsaForm = 'ieee-p1363' | 'der'

/** Names of all signature algorithms. */
export const SIGNATURE_ALGORITHMS = Object.keys(ALGORITHMS) as SignatureAlgorithm[]

/** Returns the definition of an algorithm. */
export function algorithmNamed(name: SignatureAlgorithm): Algorithm {
  return ALGORITHMS[name]
}

/**
 * Returns true if a key has the type that the algorithm requires. A public key never serves as a secret, whatever a
 * token says.
 */
export function isKeyFor(name: SignatureAlgorithm, key: KeyObject): boolean {
  const { family, curve }: Algorithm = ALGORITHMS[name]
  switch (family) {
    case 'hmac':
      return key.type === 'secret'
    case 'ecdsa':
      return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve
    case 'eddsa':
      return key.asymmetricKeyType === 'ed25519'
    default:
      return key.asymmetricKeyType === 'rsa'
  }
}

/** Returns the length of a signature by this key, in bytes. */
export function signatureBytesOf(name: SignatureAlgorithm, key: KeyObject): number {
  const { signatureBytes } = ALGORITHMS[name]
  return signatureBytes === 0 ? Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8) : signatureBytes
}

/** Returns padding and encoding for node:crypto. The PSS salt must be exactly as long as the hash. */
export function signingOptions(name: SignatureAlgorithm, form: EcdsaForm = 'ieee-p1363'): SigningOptions {
  const { family } = ALGORITHMS[name]
  if (family === 'ecdsa') return { dsaEncoding: form }
  if (family === 'rsa') return { padding: constants.RSA_PKCS1_PADDING }
  if (family !== 'pss') return {}
  return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
}
