import { type Static, Type } from '@sinclair/typebox'
import { jwksSchema, keyMembers, keySource, MAX_KEYS, MEDIA_TYPE } from '../../crypto/jose/key-schema.js'
import {
  closed,
  list,
  oneOf,
  optionalList,
  optionalOneOf,
  optionalSize,
  optionalString,
  optionalText,
  policyOptions,
} from '../../shared/options.js'
import { ENCRYPTIONS, type Encryption, KEY_ALGORITHMS } from './key-algorithm.js'

/** Default of `encryptions` and `encryption`. */
export const DEFAULT_ENCRYPTION: Encryption = 'A256GCM'
/** Default of `contentType`. */
export const DEFAULT_CONTENT_TYPE = 'application/json'

const decrypt = closed('Decrypts bodies.', {
  keys: optionalList(
    closed('One private key or secret: `jwk`, `pem`, `file` or `secret`.', keyMembers(KEY_ALGORITHMS)),
    'The keys that messages may be encrypted for.',
    { minItems: 1, maxItems: MAX_KEYS },
  ),
  jwks: Type.Optional(jwksSchema),
  algorithms: list(
    oneOf(KEY_ALGORITHMS, 'An algorithm.'),
    'The key management algorithms (`alg`) that are accepted.',
    { minItems: 1, uniqueItems: true },
  ),
  encryptions: optionalList(
    oneOf(ENCRYPTIONS, 'An encryption.'),
    'The content encryptions (`enc`) that are accepted.',
    { default: [DEFAULT_ENCRYPTION], minItems: 1, uniqueItems: true },
  ),
  contentType: optionalString('The content type of what was decrypted.', {
    default: DEFAULT_CONTENT_TYPE,
    pattern: MEDIA_TYPE,
  }),
})

const encrypt = closed('Encrypts bodies.', {
  key: closed('The public key of the receiver, or the secret: `jwk`, `pem`, `file` or `secret`.', keySource),
  algorithm: oneOf(KEY_ALGORITHMS, 'The key management algorithm (`alg`).'),
  encryption: optionalOneOf(ENCRYPTIONS, 'The content encryption (`enc`).', DEFAULT_ENCRYPTION),
  typ: optionalText(256, 'The `typ` of the header; absent: none.'),
  cty: optionalText(256, 'The `cty` of the header; absent: none.'),
})

/** The configuration of `jwe`. */
export const jweSchema = policyOptions(
  {
    phase: optionalOneOf(['request', 'response'], 'Which body is encrypted.', 'request'),
    decrypt: Type.Optional(decrypt),
    encrypt: Type.Optional(encrypt),
    maxBodyBytes: optionalSize('Largest body; default: the limit of the listener.'),
  },
  [
    'Either `decrypt` or `encrypt`; bodies are in compact form (RFC 7516 section 7.1). Whatever is wrong with an encrypted request is answered with one and the same 400 `GW_DECRYPT_FAILED`, a response with 502 `GW_RESPONSE_INVALID`. Bodies in a content coding are refused with 415 `GW_MEDIA_TYPE` or 502.',
    'Keys serve only for algorithms of their type and size: RSA from 2048 bits for RSA-OAEP, P-256, P-384, P-521 and X25519 for ECDH-ES, secrets of 16 or 32 bytes for key wrapping, of the size of the encryption for `dir`. A secret serves for one algorithm. A message names its key by `kid`; one that names an unknown key, or none, is tried with at most four.',
    '`zip` and `crit` are refused. RSA1_5 and PBES2 are not supported. Encryption does not say who encrypted: with the public key of the gateway everybody can. Sign with `jws`, too, where that matters.',
    'Bodies from 32 KB on are worked on by a thread; when 64 messages are under way the next is answered 503 `GW_OVERLOADED`. Empty messages are not encrypted, and responses to HEAD, 204 and 304 are left alone.',
  ],
)

/** The configuration of `jwe`, derived from its schema. */
export type JweConfig = Static<typeof jweSchema>
