import { type Static, Type } from '@sinclair/typebox'
import { sharingOptions } from '@sluice/policies/crypto/replay/sharing-options'
import * as field from '@sluice/policies/shared/options/options'
import { SIGNATURE_METHODS } from './algorithms.js'

/** Default of every `ttl`. */
export const DEFAULT_TTL = '300s'
/** Default of `clockSkew`. */
export const DEFAULT_SKEW = '60s'

/** Options of every object in the schema. */
export const STRICT = { additionalProperties: false }

/** Returns the schema of a PEM value, usually a reference to a file. */
export function pem(description: string, isSecret = false) {
  return field.string(`${description} PEM, such as \`\${file:name.pem}\`.`, {
    minLength: 1,
    maxLength: 65_536,
    ...(isSecret ? { secret: true } : {}),
  })
}

/** Schema of `actor`. */
export const actor = field.optionalString(
  'Actor (SOAP 1.1) or role (SOAP 1.2) of the Security header. Empty for the header without one.',
  { maxLength: 1024 },
)

/** Groups of a consumer. */
const groups = field.optionalList(
  field.string('Group name.', { minLength: 1 }),
  'Groups of the consumer, for conditions and later policies.',
)

/** Id of a consumer. */
const consumerId = field.string('Consumer id.', { minLength: 1, maxLength: 256 })

/** Forms of a password. */
export const PASSWORD_TYPES = ['digest', 'text'] as const
/** Message parts that can be signed. */
export const PARTS = ['body', 'timestamp', 'username-token'] as const

const timestampCheck = field.closed(
  'Requires a Timestamp. Without this option, a Timestamp is optional and checked with the defaults.',
  {
    ttl: field.optionalDuration('Maximum age of a message, regardless of its Expires.', DEFAULT_TTL),
    clockSkew: field.optionalDuration('Allowed clock difference, added at both ends.', DEFAULT_SKEW),
  },
  { deprecatedKeys: { skew: 'clockSkew' } },
)

const usernameCheck = field.closed(
  'Requires a UsernameToken of one of these users, which identifies the consumer.',
  {
    users: field.list(
      field.closed('User.', {
        name: field.string('User name, also the consumer id.', { minLength: 1, maxLength: 256 }),
        password: field.string(
          'Plain-text password, which digests need. Use a reference, such as `${file:ana.password}`.',
          { secret: true, minLength: 1, maxLength: 1024 },
        ),
        groups,
      }),
      'Allowed users.',
      { minItems: 1, maxItems: 10_000 },
    ),
    types: field.optionalList(
      field.oneOf(PASSWORD_TYPES, 'PasswordDigest or PasswordText.'),
      'Accepted forms of the password. `text` sends it unprotected, so use it only with TLS.',
      { default: ['digest'], minItems: 1 },
    ),
  },
)

const signatureCheck = field.closed('Requires a valid signature.', {
  certificates: field.optionalList(
    field.closed('Trusted certificate.', { id: consumerId, certificate: pem('Certificate.'), groups }),
    'Trusted signing certificates and their consumers.',
    { maxItems: 1000 },
  ),
  authorities: field.optionalList(
    pem('CA certificate.'),
    'Certificate authorities whose certificates may also sign. The consumer id is the subject. The certificate must be included in the message and issued directly by one of these.',
    { maxItems: 100 },
  ),
  secret: field.optionalClosed('Secret for HMAC signatures, which are refused without it.', {
    id: consumerId,
    value: field.string('Shared secret as UTF-8.', { secret: true, minLength: 32, maxLength: 1024 }),
    groups,
  }),
  algorithms: field.optionalList(
    field.oneOf(SIGNATURE_METHODS, 'Signature algorithm.'),
    'Accepted signature algorithms. Default: all that match the keys, except SHA-1.',
    { minItems: 1 },
  ),
  parts: field.optionalList(
    field.oneOf(PARTS, 'Part of the message.'),
    'Parts that one signature must cover completely.',
    { default: ['body', 'timestamp'] },
  ),
  maxSignatures: field.optionalInteger('Maximum number of signatures in the header. Each must be valid.', {
    default: 1,
    minimum: 1,
    maximum: 8,
  }),
  once: field.optionalFlag(
    false,
    'Refuses signatures that were seen before. Needs a signed Timestamp, which limits how long they are remembered.',
  ),
})

const decryptionCheck = field.closed('Decrypts the data that the EncryptedKeys of the header refer to.', {
  keys: field.list(
    field.closed('Decryption key.', {
      key: pem('Private RSA key.', true),
      certificate: Type.Optional(
        pem('Certificate of the key, for references in messages. Required if there are several keys.'),
      ),
    }),
    'Keys that messages may be encrypted for. List several during a rollover.',
    { minItems: 1, maxItems: 16 },
  ),
  needsBody: field.optionalFlag(true, 'Refuses messages whose Body is not encrypted.'),
})

const weak = ['sha1', 'cbc', 'rsa-1_5'] as const
const strippable = ['header', 'username-token', 'signature', 'timestamp', 'encrypted-key', 'token'] as const

const properties = {
  actor,
  timestamp: Type.Optional(timestampCheck),
  usernameToken: Type.Optional(usernameCheck),
  signature: Type.Optional(signatureCheck),
  decryption: Type.Optional(decryptionCheck),
  allowWeak: field.optionalList(
    field.oneOf(weak, 'SHA-1 in signatures, AES in CBC mode, or RSA with PKCS #1 v1.5 padding.'),
    'Weak algorithms to accept, for partners without better support.',
  ),
  strip: field.optionalList(
    field.oneOf(strippable, 'The whole Security header, or its elements of this type.'),
    'Elements to remove after the check. An empty list keeps everything.',
    { default: ['header'] },
  ),
}

/** Schema of the checks for requests. */
export const requestCheck = field.closed('Checks for requests from clients.', {
  ...properties,
  replay: field.optionalClosed('Store of used nonces, and of signatures with `once`.', sharingOptions),
})

/** Schema of the checks for responses. */
export const responseCheck = field.closed('Checks for responses from the upstream.', {
  ...properties,
  unsecuredFaults: field.optionalFlag(false, 'Accepts SOAP faults without a Security header.'),
})

/** Configuration of the checks for requests or responses. */
export type CheckConfig = Static<typeof responseCheck> & Pick<Static<typeof requestCheck>, 'replay'>
