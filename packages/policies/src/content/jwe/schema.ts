import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { jwksSchema, keyMembers, keySource, MAX_KEYS, MEDIA_TYPE } from '../../crypto/jose/key-schema.js'
import * as field from '../../shared/options/options.js'
import { ENCRYPTIONS, KEY_ALGORITHMS } from './key-algorithm.js'

const decrypt = field.closed('Decrypts bodies.', {
  keys: field.optionalList(
    field.closed('A private key or secret: `jwk`, `pem`, `file` or `secret`.', keyMembers(KEY_ALGORITHMS)),
    'Decryption keys.',
    { minItems: 1, maxItems: MAX_KEYS },
  ),
  jwks: Type.Optional(jwksSchema),
  algorithms: field.list(
    field.oneOf(KEY_ALGORITHMS, 'An algorithm.'),
    'Accepted key management algorithms (`alg`).',
    { minItems: 1, uniqueItems: true },
  ),
  encryptions: field.optionalList(
    field.oneOf(ENCRYPTIONS, 'A content encryption algorithm.'),
    'Accepted content encryption algorithms (`enc`).',
    { default: ['A256GCM'], minItems: 1, uniqueItems: true },
  ),
  contentType: field.optionalString('Content type of the decrypted body.', {
    default: 'application/json',
    pattern: MEDIA_TYPE,
  }),
})

const encrypt = field.closed('Encrypts bodies.', {
  key: field.closed(
    'Public key of the recipient, or shared secret: `jwk`, `pem`, `file` or `secret`.',
    keySource,
  ),
  algorithm: field.oneOf(KEY_ALGORITHMS, 'Key management algorithm (`alg`).'),
  encryption: field.optionalOneOf(ENCRYPTIONS, 'Content encryption algorithm (`enc`).', 'A256GCM'),
  typ: field.optionalText(256, 'Header parameter `typ`. Default: none.'),
  cty: field.optionalText(256, 'Header parameter `cty`. Default: none.'),
})

/** Schema of the configuration of `jwe`. */
export const jweSchema = field.policyOptions(
  {
    phase: field.optionalOneOf(['request', 'response'], 'Body to encrypt or decrypt.', 'request'),
    decrypt: Type.Optional(decrypt),
    encrypt: Type.Optional(encrypt),
    maxBodyBytes: field.optionalSize('Maximum size of the body. Default: the limit of the listener.'),
  },
  [
    'Configure either `decrypt` or `encrypt`. Bodies use the compact serialisation (RFC 7516 section 7.1). Every error in an encrypted request gets the same response, 400 `GW_DECRYPT_FAILED`; an error in a response gets 502 `GW_RESPONSE_INVALID`. Bodies with a content coding are refused with 415 `GW_MEDIA_TYPE` or 502.',
    'Keys are used only for algorithms of their type and size: RSA with at least 2048 bits for RSA-OAEP, P-256, P-384, P-521 and X25519 for ECDH-ES, and secrets of 16 or 32 bytes for key wrapping. For `dir` the secret must have the key size of the content encryption. A secret is used for one algorithm only. A message names its key by `kid`. If it names no key or an unknown one, at most four keys are tried.',
    "`zip` and `crit` are refused. RSA1_5 and PBES2 are not supported. Encryption does not authenticate the sender: anyone can encrypt with the gateway's public key. Sign with `jws` as well if that matters.",
    'Bodies of 32 KB and more are processed on a worker thread. If 64 messages are already in progress, the next one gets 503 `GW_OVERLOADED`. Empty messages are not encrypted, and responses to HEAD, 204 and 304 are left unchanged.',
  ],
)

/** Configuration of `jwe`, derived from its schema. */
export type JweConfig = Configured<typeof jweSchema>
