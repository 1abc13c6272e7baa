import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type RSAKeyPairOptions,
} from 'node:crypto'

/** What a key is made of, as `generateKeyPairSync` takes it. */
export interface KeyShape {
  readonly modulusLength?: number
  readonly publicExponent?: number
  readonly namedCurve?: string
}

/**
 * A new pair of keys for tests. In Node 20 keys straight from `generateKeyPairSync` share a lock with the job that made
 * them: when `export` as JWK, which holds the lock, makes V8 collect that job, the thread waits for itself for ever.
 * Keys that were read from PEM have a lock of their own.
 */
export function keyPair(
  kind: 'rsa' | 'rsa-pss' | 'dsa' | 'ec' | 'ed25519' | 'x25519',
  shape: KeyShape = {},
): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync(kind as 'rsa', {
    ...(shape as RSAKeyPairOptions<'pem', 'pem'>),
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicKey: createPublicKey(publicKey), privateKey: createPrivateKey(privateKey) }
}
