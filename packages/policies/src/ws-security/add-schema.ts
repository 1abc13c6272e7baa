import { type Static, Type } from '@sinclair/typebox'
import { DURATION_PATTERN } from '@sluice/core'
import { SIGNATURE_METHODS } from './algorithms.js'
import { actor, DEFAULT_TTL, oneOf, PARTS, PASSWORD_TYPES, pem, STRICT } from './schema-parts.js'

const keyInfo = ['token', 'thumbprint', 'issuer-serial', 'subject-key-identifier'] as const

const timestamp = Type.Object(
  {
    ttl: Type.Optional(
      Type.String({
        default: DEFAULT_TTL,
        pattern: DURATION_PATTERN,
        description: 'From Created to Expires.',
      }),
    ),
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
    type: Type.Optional(oneOf(PASSWORD_TYPES, 'How the password is shown.', 'digest')),
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
        'How to sign; default: `rsa-sha256` or `ecdsa-sha256`, whichever the key can.',
      ),
    ),
    parts: Type.Optional(
      Type.Array(oneOf(PARTS, 'A part of the message.'), {
        minItems: 1,
        description: 'What is signed; default: the Body, and the Timestamp where one is added.',
      }),
    ),
    keyInfo: Type.Optional(oneOf(keyInfo, 'How the certificate is told; `token` sends it along.', 'token')),
  },
  { ...STRICT, description: 'Signs, with exclusive canonicalization.' },
)

const encryption = Type.Object(
  {
    certificate: pem('The certificate of the receiver, with an RSA key.'),
    cipher: Type.Optional(
      oneOf(
        ['aes128-gcm', 'aes256-gcm', 'aes128-cbc', 'aes256-cbc'],
        'How the content of the Body is encrypted; CBC proves nothing and needs a signature beside it.',
        'aes256-gcm',
      ),
    ),
    keyTransport: Type.Optional(
      oneOf(
        ['rsa-oaep', 'rsa-oaep-mgf1p'],
        'How its key is: with SHA-256 throughout, or the older form with SHA-1 inside.',
        'rsa-oaep',
      ),
    ),
    keyInfo: Type.Optional(
      oneOf(
        ['thumbprint', 'issuer-serial', 'subject-key-identifier'],
        'How the certificate is told.',
        'thumbprint',
      ),
    ),
  },
  { ...STRICT, description: 'Encrypts the content of the Body, after signing.' },
)

/** What messages of one direction get. */
export function add(description: string) {
  return Type.Object(
    {
      actor,
      mustUnderstand: Type.Optional(
        Type.Boolean({
          default: true,
          description: 'Whether the receiver has to understand the Security header.',
        }),
      ),
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
