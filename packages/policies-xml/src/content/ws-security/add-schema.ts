import { type Static, Type } from '@sinclair/typebox'
import * as field from '@sluice/policies/shared/options/options'
import { SIGNATURE_METHODS } from './algorithms.js'
import { actor, DEFAULT_TTL, PARTS, PASSWORD_TYPES, pem, STRICT } from './check-schema.js'

const keyInfo = ['token', 'thumbprint', 'issuer-serial', 'subject-key-identifier'] as const

const timestamp = field.closed('Adds a Timestamp.', {
  ttl: field.optionalDuration('Time from Created to Expires.', DEFAULT_TTL),
})

const usernameToken = field.closed('Adds a UsernameToken with a nonce and a creation time.', {
  name: field.string('User name.', { minLength: 1, maxLength: 256 }),
  password: field.string('Password.', { secret: true, minLength: 1, maxLength: 1024 }),
  type: field.optionalOneOf(PASSWORD_TYPES, 'Form of the password.', 'digest'),
})

const signature = field.closed('Signs the message, with exclusive canonicalization.', {
  key: pem('Private key, RSA or EC.', true),
  certificate: pem('Certificate of the key.'),
  algorithm: field.optionalOneOf(
    SIGNATURE_METHODS.filter((name) => !name.startsWith('hmac')),
    'Signature algorithm. Default: `rsa-sha256` or `ecdsa-sha256`, depending on the key.',
  ),
  parts: field.optionalList(
    field.oneOf(PARTS, 'Part of the message.'),
    'Signed parts. Default: the Body, and the Timestamp if one is added.',
    { minItems: 1 },
  ),
  keyInfo: field.optionalOneOf(
    keyInfo,
    'Reference to the certificate. `token` includes the certificate in the message.',
    'token',
  ),
})

const encryption = field.closed('Encrypts the content of the Body, after signing.', {
  certificate: pem('Certificate of the receiver, with an RSA key.'),
  cipher: field.optionalOneOf(
    ['aes128-gcm', 'aes256-gcm', 'aes128-cbc', 'aes256-cbc'],
    'Cipher for the content of the Body. CBC does not protect integrity, so it requires a signature.',
    'aes256-gcm',
  ),
  keyTransport: field.optionalOneOf(
    ['rsa-oaep', 'rsa-oaep-mgf1p'],
    'Key transport: with SHA-256, or the older form with SHA-1.',
    'rsa-oaep',
  ),
  keyInfo: field.optionalOneOf(
    ['thumbprint', 'issuer-serial', 'subject-key-identifier'],
    'Reference to the certificate.',
    'thumbprint',
  ),
})

/** Returns the schema of `add`, the security elements to add to requests or responses. */
export function add(description: string) {
  return Type.Object(
    {
      actor,
      mustUnderstand: field.optionalFlag(true, 'Sets `mustUnderstand` on the Security header.'),
      timestamp: Type.Optional(timestamp),
      usernameToken: Type.Optional(usernameToken),
      signature: Type.Optional(signature),
      encryption: Type.Optional(encryption),
    },
    { ...STRICT, description },
  )
}

/** Configuration of `add`. */
export type AddConfig = Static<ReturnType<typeof add>>
