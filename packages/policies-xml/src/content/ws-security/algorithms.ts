import { constants, createHmac, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import { SecurityFault } from './fault.js'

/** Kind of key that an algorithm requires. A key of another kind is never used. */
export type KeyKind = 'rsa' | 'ec' | 'secret'

/** A signature algorithm, as in ds:SignatureMethod. */
export interface SignatureMethod {
  readonly name: string
  readonly uri: string
  readonly kind: KeyKind
  readonly hash: string
  readonly isPss: boolean
  /** True if the algorithm needs `allowWeak: [sha1]`. */
  readonly isWeak: boolean
}

const DSIG = 'http://www.w3.org/2000/09/xmldsig#'
const DSIG_MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
const PSS = 'http://www.w3.org/2007/05/xmldsig-more#'

/**
 * Signature algorithms with the URIs of RFC 9231 section 2.3. SHA-1 and shared secrets must be enabled
 * explicitly.
 */
const METHODS: readonly SignatureMethod[] = [
  ...['256', '384', '512'].flatMap((bits) => [
    method(`rsa-sha${bits}`, `${DSIG_MORE}rsa-sha${bits}`, 'rsa', `sha${bits}`),
    method(`rsa-pss-sha${bits}`, `${PSS}sha${bits}-rsa-MGF1`, 'rsa', `sha${bits}`),
    method(`ecdsa-sha${bits}`, `${DSIG_MORE}ecdsa-sha${bits}`, 'ec', `sha${bits}`),
    method(`hmac-sha${bits}`, `${DSIG_MORE}hmac-sha${bits}`, 'secret', `sha${bits}`),
  ]),
  method('rsa-sha1', `${DSIG}rsa-sha1`, 'rsa', 'sha1'),
  method('hmac-sha1', `${DSIG}hmac-sha1`, 'secret', 'sha1'),
]

function method(name: string, uri: string, kind: KeyKind, hash: string): SignatureMethod {
  return { name, uri, kind, hash, isPss: name.startsWith('rsa-pss'), isWeak: hash === 'sha1' }
}

/** Names of the configurable algorithms. */
export const SIGNATURE_METHODS: readonly string[] = METHODS.filter(({ isWeak }) => !isWeak).map(
  ({ name }) => name,
)

/**
 * Returns algorithms by URI.
 * @param names names of the allowed algorithms.
 * @param allowsSha1 adds the weak ones.
 */
export function signatureMethods(
  names: readonly string[],
  allowsSha1: boolean,
): ReadonlyMap<string, SignatureMethod> {
  const allowed = METHODS.filter(({ name, isWeak }) => (isWeak ? allowsSha1 : names.includes(name)))
  return new Map(allowed.map((one) => [one.uri, one]))
}

/** Returns the algorithm with that name. @throws Error if there is none */
export function signatureMethod(name: string): SignatureMethod {
  const found = METHODS.find((one) => one.name === name)
  if (found === undefined) throw new Error(`'${name}' is not a signature algorithm`)
  return found
}

const DIGESTS: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])
const SHA1_URI = 'http://www.w3.org/2000/09/xmldsig#sha1'

/** Returns the hash of a digest method. @throws SecurityFault if it is not allowed */
export function digestHash(uri: string | null, allowsSha1: boolean): string {
  const hash = uri === SHA1_URI && allowsSha1 ? 'sha1' : DIGESTS.get(uri ?? '')
  if (hash === undefined) throw new SecurityFault('UnsupportedAlgorithm', 'the digest method is not allowed')
  return hash
}

/** Returns the URI of a digest method. */
export function digestUri(hash: string): string {
  for (const [uri, name] of DIGESTS) if (name === hash) return uri
  return SHA1_URI
}

/** Returns the kind of a key, or null if it cannot be used for signatures. */
export function kindOf(key: KeyObject): KeyKind | null {
  if (key.type === 'secret') return 'secret'
  if (key.asymmetricKeyType === 'rsa') return 'rsa'
  return key.asymmetricKeyType === 'ec' ? 'ec' : null
}

/**
 * Returns true if the signature is valid. Always false if the kind of the key does not match the algorithm.
 */
export function isSignedBy(key: KeyObject, how: SignatureMethod, bytes: Buffer, signature: Buffer): boolean {
  if (kindOf(key) !== how.kind) return false
  if (how.kind === 'secret') {
    const expected = createHmac(how.hash, key).update(bytes).digest()
    return expected.length === signature.length && timingSafeEqual(expected, signature)
  }
  return verify(how.hash, bytes, signatureKey(key, how), signature)
}

/** Signs the bytes. */
export function signatureOf(key: KeyObject, how: SignatureMethod, bytes: Buffer): Buffer {
  if (how.kind === 'secret') return createHmac(how.hash, key).update(bytes).digest()
  return sign(how.hash, bytes, signatureKey(key, how))
}

function signatureKey(key: KeyObject, { kind, isPss }: SignatureMethod) {
  if (kind === 'ec') return { key, dsaEncoding: 'ieee-p1363' as const }
  if (!isPss) return { key, padding: constants.RSA_PKCS1_PADDING }
  return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
}
