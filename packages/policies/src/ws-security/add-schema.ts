import { type Static, Type } from '@sinclair/typebox'
import { oneOf, optionalDuration, optionalFlag } from '../options.js'
import { SIGNATURE_METHODS } from './algorithms.js'
import { actor, DEFAULT_TTL, PARTS, PASSWORD_TYPES, pem, STRICT } from './schema-parts.js'

const keyInfo = ['token', 'thumbprint', 'issuer-serial', 'subject-key-identifier'] as const

const timestamp = Type.Object(
  {
    ttl: optionalDuration('From Created to Expires.', DEFAULT_TTL),
  },
  { ...STRICT, description: 'Adds a Timestamp.' },
)

const usernameToken = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 256, description: 'The user name.' }),
    password: Type.String({
      secret: true,
      minLength: 1,
      maxLength: 1024,
      description: 'The password.',
    }),
    type: Type.Optional(
      oneOf(PASSWORD_TYPES, { default: 'digest', description: 'How the password is shown.' }),
    ),
  },
  { ...STRICT, description: 'Adds a UsernameToken with nonce and creation time.' },
)

const signature = Type.Object(
  {
    key: pem('The private key, RSA or EC.', true),
    certificate: pem('Its certificate.'),
    algorithm: Type.Optional(
      oneOf(
        SIGNATURE_METHODS.filter((name) => !name.startsWith('hmac')),
        { description: 'How to sign; default: `rsa-sha256` or `ecdsa-sha256`, whichever the key can.' },
      ),
    ),
    parts: Type.Optional(
      Type.Array(oneOf(PARTS, { description: 'A part of the message.' }), {
        minItems: 1,
        description: 'What is signed; default: the Body, and the Timestamp where one is added.',
      }),
    ),
    keyInfo: Type.Optional(
      oneOf(keyInfo, {
        default: 'token',
        description: 'How the certificate is told; `token` sends it along.',
      }),
    ),
  },
  { ...STRICT, description: 'Signs, with exclusive canonicalization.' },
)

const encryption = Type.Object(
  {
    certificate: pem('The certificate of the receiver, with an RSA key.'),
    cipher: Type.Optional(
      oneOf(['aes128-gcm', 'aes256-gcm', 'aes128-cbc', 'aes256-cbc'], {
        default: 'aes256-gcm',
        description:
          'How the content of the Body is encrypted; CBC proves nothing and needs a signature beside it.',
      }),
    ),
    keyTransport: Type.Optional(
      oneOf(['rsa-oaep', 'rsa-oaep-mgf1p'], {
        default: 'rsa-oaep',
        description: 'How its key is: with SHA-256 throughout, or the older form with SHA-1 inside.',
      }),
    ),
    keyInfo: Type.Optional(
      oneOf(['thumbprint', 'issuer-serial', 'subject-key-identifier'], {
        default: 'thumbprint',
        description: 'How the certificate is told.',
      }),
    ),
  },
  { ...STRICT, description: 'Encrypts the content of the Body, after signing.' },
)

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
