import { constants, type KeyObject, type SigningOptions } from 'node:crypto'

interface Algorithm {
  readonly family: 'hmac' | 'rsa' | 'pss' | 'ecdsa' | 'eddsa'
  /** Of node:crypto; null where the algorithm brings its own. */
  readonly hash: string | null
  /** Length of a signature in bytes; 0: that of the modulus. */
  readonly signatureBytes: number
  /** The one curve of the algorithm, as node:crypto calls it. */
  readonly curve?: string
}

/** What RFC 7518 section 3.1, RFC 8037 and RFC 9864 define and is safe to use. `none` is not among it. */
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

/** The name of a signature algorithm as `alg` has it. */
export type SignatureAlgorithm = keyof typeof ALGORITHMS

/** How the two numbers of an ECDSA signature are written: side by side (RFC 7518), or in ASN.1 as OpenSSL and Java do. */
export type EcdsaForm = 'ieee-p1363' | 'der'

export const SIGNATURE_ALGORITHMS = Object.keys(ALGORITHMS) as SignatureAlgorithm[]

/** What an algorithm is made of. */
export function algorithmNamed(name: SignatureAlgorithm): Algorithm {
  return ALGORITHMS[name]
}

/** Whether a key is of the kind that the algorithm needs: a public key is never a secret, whatever a token says. */
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

/** How many bytes a signature of this key has. */
export function signatureBytesOf(name: SignatureAlgorithm, key: KeyObject): number {
  const { signatureBytes } = ALGORITHMS[name]
  return signatureBytes === 0 ? Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8) : signatureBytes
}

/** Padding and encoding, as node:crypto needs them. The salt of PSS is as long as the hash, no more, no less. */
export function signingOptions(name: SignatureAlgorithm, form: EcdsaForm = 'ieee-p1363'): SigningOptions {
  const { family } = ALGORITHMS[name]
  if (family === 'ecdsa') return { dsaEncoding: form }
  if (family === 'rsa') return { padding: constants.RSA_PKCS1_PADDING }
  if (family !== 'pss') return {}
  return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
}
