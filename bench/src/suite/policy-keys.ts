import { createCipheriv, createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** User name of the benchmark. The password is not secret, and its hash is fixed so that all runs are equal. */
export const NAME = 'bench'
export const PASSWORD = 'bench'
export const PASSWORD_HASH =
  '$scrypt$ln=15,r=8,p=1$DEE7t8qLd8Iny0zIFPTF/A$XpfUGGTEnPHQ9FKzdO3Ps5yT2nlzuMezFPlgjSO26SA'

/** API key of the benchmark. It is not secret. */
export const API_KEY = 'gw_benchmark-key-00000000000000000000000000000'
export const API_KEY_SHA256 = 'c3fb6fcaa6b340d2acd67827fc394134660b8c5dcb6003dace585dbee2ddee69'

/** Keys of one run. */
const ed25519 = generateKeyPairSync('ed25519', {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

/** Signing key as PEM. */
export const SIGNING_KEY = ed25519.privateKey
/** Verifying key as PEM. */
export const VERIFYING_KEY = ed25519.publicKey
/** Shared secret of 256 bits. */
export const SECRET = randomBytes(32)

/** Value that was signed with `SIGNING_KEY`. */
export const SIGNED_VALUE = 'order-4711'
export const VALUE_SIGNATURE = sign(null, Buffer.from(SIGNED_VALUE), SIGNING_KEY).toString('base64')

/** Placeholder address of the directory in documents. */
export const DIRECTORY = 'ldap://127.0.0.1:389'
export const TOKEN_SERVER = 'http://127.0.0.1:80'

/** Returns a JWT for the run, signed with `SECRET` (HS256) or `SIGNING_KEY` (EdDSA). */
export function benchmarkToken(alg: 'HS256' | 'EdDSA'): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: 'benchmark', aud: 'api', sub: 'bench', exp: Math.floor(Date.now() / 1000) + 86_400 }
  const signed = `${part({ alg, typ: 'JWT', kid: 'bench' })}.${part(claims)}`
  const signature =
    alg === 'HS256'
      ? createHmac('sha256', SECRET).update(signed).digest()
      : sign(null, Buffer.from(signed), SIGNING_KEY)
  return `${signed}.${signature.toString('base64url')}`
}

/** Returns `SIGNED_VALUE` as the policy `encrypt` writes it: iv, ciphertext and tag of AES-256-GCM. */
export function encryptedValue(): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', SECRET, iv)
  return Buffer.concat([iv, cipher.update(SIGNED_VALUE), cipher.final(), cipher.getAuthTag()]).toString(
    'base64',
  )
}
