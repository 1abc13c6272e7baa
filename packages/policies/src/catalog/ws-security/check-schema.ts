import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '../../crypto/replay/sharing-options.js'
import {
  closed,
  list,
  oneOf,
  optionalClosed,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalString,
  string,
} from '../../shared/options.js'
import { SIGNATURE_METHODS } from './algorithms.js'

/** Default of every `ttl`. */
export const DEFAULT_TTL = '300s'
/** Default of `skew`. */
export const DEFAULT_SKEW = '60s'

/** Every object of the configuration. */
export const STRICT = { additionalProperties: false }

/** PEM, mostly through a reference to a file. */
export function pem(description: string, isSecret = false) {
  return string(`${description} PEM, such as \`\${file:name.pem}\`.`, {
    minLength: 1,
    maxLength: 65_536,
    ...(isSecret ? { secret: true } : {}),
  })
}

/** For whom a Security header is. */
export const actor = optionalString(
  'The actor (SOAP 1.1) or role (SOAP 1.2) of the Security header; empty for the header without one.',
  { maxLength: 1024 },
)

/** Of a consumer. */
const groups = optionalList(
  string('A group name.', { minLength: 1 }),
  'Groups of the consumer, for conditions and later policies.',
)

/** Of a consumer. */
const consumerId = string('The id of the consumer.', { minLength: 1, maxLength: 256 })

/** How a password is shown. */
export const PASSWORD_TYPES = ['digest', 'text'] as const
/** What of a message is signed. */
export const PARTS = ['body', 'timestamp', 'username-token'] as const

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
    users: list(
      closed('One user.', {
        name: string('The user name; also the id of the consumer.', { minLength: 1, maxLength: 256 }),
        password: string(
          'The password itself, which a digest needs; write a reference, such as `${file:ana.password}`.',
          { secret: true, minLength: 1, maxLength: 1024 },
        ),
        groups,
      }),
      'Who may call.',
      { minItems: 1, maxItems: 10_000 },
    ),
    types: optionalList(
      oneOf(PASSWORD_TYPES, 'PasswordDigest or PasswordText.'),
      'How the password may be shown. `text` shows it to everybody on the way: only with TLS.',
      { default: ['digest'], minItems: 1 },
    ),
  },
)

const signatureCheck = closed('A valid signature has to be there.', {
  certificates: optionalList(
    closed('One certificate, trusted by itself.', {
      id: consumerId,
      certificate: pem('The certificate.'),
      groups,
    }),
    'Certificates that may sign, and for whom.',
    { maxItems: 1000 },
  ),
  authorities: optionalList(
    pem('The certificate of an authority.'),
    'Authorities whose certificates may sign too; the consumer is the subject. The certificate has to come with the message and be signed by one of these directly.',
    { maxItems: 100 },
  ),
  secret: optionalClosed('A secret for HMAC signatures, which are refused without it.', {
    id: consumerId,
    value: string('The shared secret, as UTF-8.', { secret: true, minLength: 32, maxLength: 1024 }),
    groups,
  }),
  algorithms: optionalList(
    oneOf(SIGNATURE_METHODS, 'A way to sign.'),
    'The ways to sign that are accepted; default: all that fit the keys, without SHA-1.',
    { minItems: 1 },
  ),
  parts: optionalList(
    oneOf(PARTS, 'A part of the message.'),
    'What one signature has to cover, each as a whole.',
    { default: ['body', 'timestamp'] },
  ),
  maxSignatures: optionalInteger('Signatures in the header; each has to be valid.', {
    default: 1,
    minimum: 1,
    maximum: 8,
  }),
  once: optionalFlag(
    false,
    'Refuses a signature that was seen before. Needs a signed Timestamp, which bounds how long it is remembered.',
  ),
})

const decryptionCheck = closed('Decrypts what the EncryptedKeys of the header refer to.', {
  keys: list(
    closed('One key.', {
      key: pem('The private RSA key.', true),
      certificate: Type.Optional(
        pem('Its certificate, by which messages name the key; needed where there are several.'),
      ),
    }),
    'What messages are encrypted for; several for the time of a change.',
    { minItems: 1, maxItems: 16 },
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
  allowWeak: optionalList(
    oneOf(weak, 'SHA-1 in signatures, AES in CBC mode, or RSA with PKCS #1 v1.5 padding.'),
    'What is refused otherwise, for partners who cannot do better.',
  ),
  strip: optionalList(
    oneOf(strippable, 'The whole Security header, or the elements of that kind in it.'),
    'What the next one does not see; an empty list leaves everything.',
    { default: ['header'] },
  ),
}

/** What clients have to send. */
export const requestCheck = closed('What clients have to send.', {
  ...properties,
  replay: optionalClosed('How nonces, and signatures with `once`, are remembered.', sharingOptions),
})

/** What the upstream has to send. */
export const responseCheck = closed('What the upstream has to send.', {
  ...properties,
  unsecuredFaults: optionalFlag(false, 'Lets a SOAP fault without a Security header pass.'),
})

/** What messages of one direction have to be. */
export type CheckConfig = Static<typeof responseCheck> & Pick<Static<typeof requestCheck>, 'replay'>
