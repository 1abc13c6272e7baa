import { type Static, Type } from '@sinclair/typebox'
import {
  closed,
  oneOf,
  optionalDuration,
  optionalFlag,
  optionalList,
  optionalOneOf,
  string,
} from '../../shared/options.js'
import { SIGNATURE_METHODS } from './algorithms.js'
import { actor, DEFAULT_TTL, PARTS, PASSWORD_TYPES, pem, STRICT } from './check-schema.js'

const keyInfo = ['token', 'thumbprint', 'issuer-serial', 'subject-key-identifier'] as const

const timestamp = closed('Adds a Timestamp.', {
  ttl: optionalDuration('From Created to Expires.', DEFAULT_TTL),
})

const usernameToken = closed('Adds a UsernameToken with nonce and creation time.', {
  name: string('The user name.', { minLength: 1, maxLength: 256 }),
  password: string('The password.', { secret: true, minLength: 1, maxLength: 1024 }),
  type: optionalOneOf(PASSWORD_TYPES, 'How the password is shown.', 'digest'),
})

const signature = closed('Signs, with exclusive canonicalization.', {
  key: pem('The private key, RSA or EC.', true),
  certificate: pem('Its certificate.'),
  algorithm: optionalOneOf(
    SIGNATURE_METHODS.filter((name) => !name.startsWith('hmac')),
    'How to sign; default: `rsa-sha256` or `ecdsa-sha256`, whichever the key can.',
  ),
  parts: optionalList(
    oneOf(PARTS, 'A part of the message.'),
    'What is signed; default: the Body, and the Timestamp where one is added.',
    { minItems: 1 },
  ),
  keyInfo: optionalOneOf(keyInfo, 'How the certificate is named; `token` sends it along.', 'token'),
})

const encryption = closed('Encrypts the content of the Body, after signing.', {
  certificate: pem('The certificate of the receiver, with an RSA key.'),
  cipher: optionalOneOf(
    ['aes128-gcm', 'aes256-gcm', 'aes128-cbc', 'aes256-cbc'],
    'How the content of the Body is encrypted; CBC proves nothing and needs a signature beside it.',
    'aes256-gcm',
  ),
  keyTransport: optionalOneOf(
    ['rsa-oaep', 'rsa-oaep-mgf1p'],
    'How its key is: with SHA-256 throughout, or the older form with SHA-1 inside.',
    'rsa-oaep',
  ),
  keyInfo: optionalOneOf(
    ['thumbprint', 'issuer-serial', 'subject-key-identifier'],
    'How the certificate is named.',
    'thumbprint',
  ),
})

/** What messages of one direction get. */
export function add(description: string) {
  return Type.Object(
    {
      actor,
      mustUnderstand: optionalFlag(true, 'Whether the receiver has to understand the Security header.'),
      timestamp: Type.Optional(timestamp),
      usernameToken: Type.Optional(usernameToken),
      signature: Type.Optional(signature),
      encryption: Type.Optional(encryption),
    },
    { ...STRICT, description },
  )
}

/** What messages of one direction get. */
export type AddConfig = Static<ReturnType<typeof add>>
