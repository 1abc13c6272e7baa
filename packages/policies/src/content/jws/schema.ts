import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import {
  allowWeakSchema,
  jwksSchema,
  keyMembers,
  keySource,
  MAX_KEYS,
  MEDIA_TYPE,
} from '../../crypto/jose/key-schema.js'
import { SIGNATURE_ALGORITHMS } from '../../crypto/keys/signature-algorithm.js'
import * as field from '../../shared/options/options.js'

const verify = field.closed('Verifies signatures.', {
  keys: field.optionalList(
    field.closed('A key: `jwk`, `pem`, `file` or `secret`.', keyMembers(SIGNATURE_ALGORITHMS)),
    'Accepted keys.',
    { minItems: 1, maxItems: MAX_KEYS },
  ),
  jwks: Type.Optional(jwksSchema),
  algorithms: field.list(field.oneOf(SIGNATURE_ALGORITHMS, 'An algorithm.'), 'Accepted algorithms.', {
    minItems: 1,
    uniqueItems: true,
  }),
  types: field.optionalList(
    field.string('A type.', { minLength: 1, maxLength: 256 }),
    'Accepted values of the header parameter `typ`, case-insensitive. Without it `typ` is not checked. Use it to reject tokens that the same key signs for other purposes.',
    { minItems: 1 },
  ),
  payload: field.optionalOneOf(
    ['unwrap', 'keep'],
    '`unwrap` replaces a compact or JSON body with its payload. `keep` leaves the body unchanged.',
    'unwrap',
  ),
  contentType: field.optionalString('Content type of an unwrapped payload.', {
    default: 'application/json',
    pattern: MEDIA_TYPE,
  }),
})

const sign = field.closed('Creates signatures.', {
  key: field.closed('Private key or secret: `jwk`, `pem`, `file` or `secret`.', keySource),
  algorithm: field.oneOf(SIGNATURE_ALGORITHMS, 'Signature algorithm.'),
  typ: field.optionalText(256, 'Header parameter `typ`. Default: none.'),
  cty: field.optionalText(256, 'Header parameter `cty`. Default: none.'),
})

/** Schema of the configuration of `jws`. */
export const jwsSchema = field.policyOptions(
  {
    phase: field.optionalOneOf(['request', 'response'], 'Body to sign or verify.', 'request'),
    form: field.optionalOneOf(
      ['compact', 'json', 'detached'],
      'Form of the signature. `compact`: the body is a compact JWS. `json`: the body is a flattened JSON JWS (RFC 7515 section 7.2.2). `detached`: the body stays unchanged and a header contains the signature (appendix F).',
      'compact',
    ),
    header: field.optionalString('Header with a detached signature.', {
      default: 'x-jws-signature',
      minLength: 1,
      maxLength: 256,
    }),
    unencoded: field.optionalFlag(
      true,
      'Signs the unencoded body (`b64: false`, RFC 7797) in detached signatures. If false, the base64url encoding of the body is signed.',
    ),
    verify: Type.Optional(verify),
    sign: Type.Optional(sign),
    allowWeak: allowWeakSchema,
    maxBodyBytes: field.optionalSize('Maximum size of the body. Default: the limit of the listener.'),
  },
  [
    'Configure either `verify` or `sign`. A request without a signature gets 401 `GW_SIGNATURE_MISSING`. A wrong signature, or one with a key or algorithm that is not allowed, gets 401 `GW_SIGNATURE_INVALID`. A body that is not a JWS gets 400 `GW_BODY_UNPARSABLE`. An invalid response is replaced with 502 `GW_RESPONSE_INVALID`. Bodies with a content coding are refused with 415 `GW_MEDIA_TYPE` or 502.',
    'Keys are used only for algorithms of their type, and at most four are tried, as with `jwt`. Keys in message headers are ignored. `crit` is refused except for `b64`, which must match `unencoded`. A JSON body has `payload`, `protected` and `signature`, and may have `kid` in `header`. Multiple signatures are not supported.',
    'The variable `jws` contains the `kid` of the key that signed the request. A signature does not include a time, so signed messages can be replayed.',
    'Empty requests are not signed, and responses to HEAD, 204 and 304 are neither signed nor verified. RSA signatures, and bodies of 32 KB and more, are processed on the Node.js thread pool.',
  ],
)

/** Configuration of `jws`, derived from its schema. */
export type JwsConfig = Configured<typeof jwsSchema>
/** Form of a signature. */
export type JwsForm = JwsConfig['form']
