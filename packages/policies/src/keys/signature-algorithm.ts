import {
  constants,
  createHmac,
  createSecretKey,
  type KeyObject,
  sign as signBytes,
  timingSafeEqual,
  verify as verifyBytes,
} from 'node:crypto'

/** What signs and verifies under one key. */
export interface SignatureAlgorithm {
  readonly kind: 'rsa-pss' | 'rsa' | 'ec' | 'ed25519' | 'hmac'
  /** Null where the algorithm brings its own. */
  readonly hash: string | null
  /** Of elliptic curves. */
  readonly curve?: string
}

/** Whether the bytes carry this signature. */
export type Verifier = (bytes: Uint8Array, signature: Uint8Array) => boolean
/** The signature of the bytes; a promise where it would hold up the event loop. */
export type Signer = (bytes: Uint8Array) => Buffer | Promise<Buffer>
/** How the two numbers of an ECDSA signature are written: side by side (RFC 7518), or in ASN.1 as OpenSSL and Java do. */
export type EcdsaForm = 'ieee-p1363' | 'der'

/** Every algorithm by the name of JOSE. Nothing with SHA-1 or MD5 is among them. */
export const SIGNATURE_ALGORITHMS = {
  Ed25519: { kind: 'ed25519', hash: null },
  ES256: { kind: 'ec', hash: 'sha256', curve: 'prime256v1' },
  ES384: { kind: 'ec', hash: 'sha384', curve: 'secp384r1' },
  HS256: { kind: 'hmac', hash: 'sha256' },
  PS256: { kind: 'rsa-pss', hash: 'sha256' },
  PS384: { kind: 'rsa-pss', hash: 'sha384' },
  PS512: { kind: 'rsa-pss', hash: 'sha512' },
  RS256: { kind: 'rsa', hash: 'sha256' },
  RS384: { kind: 'rsa', hash: 'sha384' },
  RS512: { kind: 'rsa', hash: 'sha512' },
} as const satisfies Record<string, SignatureAlgorithm>

/** @throws Error when the key is not one for the algorithm. */
export function assertFits(algorithm: SignatureAlgorithm, key: KeyObject, what: string): void {
  if (fits(algorithm, key)) return
  const type = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType
  throw new Error(`${what} is a key of type ${type}, which the algorithm does not take; change one of them`)
}

function fits({ kind, curve }: SignatureAlgorithm, key: KeyObject): boolean {
  const type = key.asymmetricKeyType
  if (kind === 'ec') return type === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve
  // A key that says it is for PSS alone may not be used with the older padding.
  if (kind === 'rsa-pss') return type === 'rsa' || type === 'rsa-pss'
  return type === kind
}

/** Verifies with a public key. */
export function asymmetricVerifier(
  algorithm: SignatureAlgorithm,
  key: KeyObject,
  form: EcdsaForm = 'ieee-p1363',
): Verifier {
  const input = { key, ...options(algorithm, form) }
  return (bytes, signature) => verifyBytes(algorithm.hash, bytes, input, signature)
}

/** Signs with a private key. What takes long (RSA, P-384) runs on the threads of libuv. */
export function asymmetricSigner(
  algorithm: SignatureAlgorithm,
  key: KeyObject,
  form: EcdsaForm = 'ieee-p1363',
): Signer {
  const input = { key, ...options(algorithm, form) }
  const { kind, hash, curve } = algorithm
  if (kind === 'ed25519' || curve === 'prime256v1') return (bytes) => signBytes(hash, bytes, input)
  return (bytes) =>
    new Promise((resolve, reject) => {
      signBytes(hash, bytes, input, (error, signature) => (error ? reject(error) : resolve(signature)))
    })
}

/** Signs with a shared secret. */
export function hmacSigner(hash: string, secret: Uint8Array): (bytes: Uint8Array) => Buffer {
  const key = createSecretKey(secret)
  return (bytes) => createHmac(hash, key).update(bytes).digest()
}

/** Verifies with a shared secret, in constant time; a shortened signature is none. */
export function hmacVerifier(hash: string, secret: Uint8Array): Verifier {
  const sign = hmacSigner(hash, secret)
  return (bytes, signature) => {
    const expected = sign(bytes)
    return signature.length === expected.length && timingSafeEqual(expected, signature)
  }
}

/** The salt of PSS is as long as the hash, neither more nor less. */
function options({ kind }: SignatureAlgorithm, form: EcdsaForm): object {
  if (kind === 'ec') return { dsaEncoding: form }
  if (kind === 'rsa') return { padding: constants.RSA_PKCS1_PADDING }
  if (kind === 'rsa-pss')
    return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  return {}
}
