import { type Static, Type } from '@sinclair/typebox'
import { closed, oneOf, optionalDuration, optionalFlag } from '../../shared/options.js'
import { SIGNATURE_METHODS } from './algorithms.js'
import {
  actor,
  consumerId,
  DEFAULT_SKEW,
  DEFAULT_TTL,
  groups,
  PARTS,
  PASSWORD_TYPES,
  pem,
} from './schema-parts.js'

const timestampCheck = closed(
  'A Timestamp has to be there. Without this one is checked, by the defaults, when it is there.',
  {
    ttl: optionalDuration('How old a message may be, whatever its Expires says.', DEFAULT_TTL),
    skew: optionalDuration('How much the clocks may differ, added at both ends.', DEFAULT_SKEW),
  },
)

const usernameCheck = closed(
  'A UsernameToken of one of these users has to be there; it names the consumer.',
  {
    users: Type.Array(
      closed('One user.', {
        name: Type.String({
          minLength: 1,
          maxLength: 256,
          description: 'The user name; also the id of the consumer.',
        }),
        password: Type.String({
          secret: true,
          minLength: 1,
          maxLength: 1024,
          description:
            'The password itself, which a digest needs; write a reference, such as `${file:ana.password}`.',
        }),
        groups,
      }),
      { minItems: 1, maxItems: 10_000, description: 'Who may call.' },
    ),
    types: Type.Optional(
      Type.Array(oneOf(PASSWORD_TYPES, { description: 'PasswordDigest or PasswordText.' }), {
        default: ['digest'],
        minItems: 1,
        description: 'How the password may be shown. `text` shows it to everybody on the way: only with TLS.',
      }),
    ),
  },
)

const signatureCheck = closed('A valid signature has to be there.', {
  certificates: Type.Optional(
    Type.Array(
      closed('One certificate, trusted by itself.', {
        id: consumerId,
        certificate: pem('The certificate.'),
        groups,
      }),
      { maxItems: 1000, description: 'Certificates that may sign, and for whom.' },
    ),
  ),
  authorities: Type.Optional(
    Type.Array(pem('The certificate of an authority.'), {
      maxItems: 100,
      description:
        'Authorities whose certificates may sign too; the consumer is the subject. The certificate has to come with the message and be signed by one of these directly.',
    }),
  ),
  secret: Type.Optional(
    closed('A secret for HMAC signatures, which are refused without it.', {
      id: consumerId,
      value: Type.String({
        secret: true,
        minLength: 32,
        maxLength: 1024,
        description: 'The shared secret, as UTF-8.',
      }),
      groups,
    }),
  ),
  algorithms: Type.Optional(
    Type.Array(oneOf(SIGNATURE_METHODS, { description: 'A way to sign.' }), {
      minItems: 1,
      description: 'The ways to sign that are accepted; default: all that fit the keys, without SHA-1.',
    }),
  ),
  parts: Type.Optional(
    Type.Array(oneOf(PARTS, { description: 'A part of the message.' }), {
      default: ['body', 'timestamp'],
      description: 'What one signature has to cover, each as a whole.',
    }),
  ),
  maxSignatures: Type.Optional(
    Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 8,
      description: 'Signatures in the header; each has to be valid.',
    }),
  ),
  once: optionalFlag(
    false,
    'Refuses a signature that was seen before. Needs a signed Timestamp, which bounds how long it is remembered.',
  ),
})

const decryptionCheck = closed('Decrypts what the EncryptedKeys of the header refer to.', {
  keys: Type.Array(
    closed('One key.', {
      key: pem('The private RSA key.', true),
      certificate: Type.Optional(
        pem('Its certificate, by which messages name the key; needed where there are several.'),
      ),
    }),
    {
      minItems: 1,
      maxItems: 16,
      description: 'What messages are encrypted for; several for the time of a change.',
    },
  ),
  needsBody: optionalFlag(true, 'Refuses messages whose Body is not encrypted.'),
})

const weak = ['sha1', 'cbc', 'rsa-1_5'] as const
const strippable = ['header', 'username-token', 'signature', 'timestamp', 'encrypted-key', 'token'] as const

const properties = {
  actor,
  timestamp: Type.Optional(timestampCheck),
  usernameToken: Type.Optional(usernameCheck),
  signature: Type.Optional(signatureCheck),
  decryption: Type.Optional(decryptionCheck),
  allowWeak: Type.Optional(
    Type.Array(
      oneOf(weak, { description: 'SHA-1 in signatures, AES in CBC mode, or RSA with PKCS #1 v1.5 padding.' }),
      {
        description: 'What is refused otherwise, for partners who cannot do better.',
      },
    ),
  ),
  strip: Type.Optional(
    Type.Array(
      oneOf(strippable, { description: 'The whole Security header, or the elements of that kind in it.' }),
      {
        default: ['header'],
        description: 'What the next one does not see; an empty list leaves everything.',
      },
    ),
  ),
}

/** What clients have to send. */
export const requestCheck = closed('What clients have to send.', properties)

/** What the upstream has to send. */
export const responseCheck = closed('What the upstream has to send.', {
  ...properties,
  unsecuredFaults: optionalFlag(false, 'Lets a SOAP fault without a Security header pass.'),
})

/** What messages of one direction have to be. */
export type CheckConfig = Static<typeof responseCheck>
