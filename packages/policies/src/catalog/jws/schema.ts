import { type Static, Type } from '@sinclair/typebox'
import {
  allowWeakSchema,
  jwksSchema,
  keyMembers,
  keySource,
  MAX_KEYS,
  MEDIA_TYPE,
} from '../../crypto/jose/key-schema.js'
import { SIGNATURE_ALGORITHMS } from '../../crypto/keys/signature-algorithm.js'
import {
  closed,
  list,
  oneOf,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalSize,
  optionalString,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

/** Default of `header`. */
export const DEFAULT_HEADER = 'x-jws-signature'
/** Default of `contentType`. */
export const DEFAULT_CONTENT_TYPE = 'application/json'

const verify = closed('Checks signatures.', {
  keys: optionalList(
    closed('One key: `jwk`, `pem`, `file` or `secret`.', keyMembers(SIGNATURE_ALGORITHMS)),
    'The keys that may have signed.',
    { minItems: 1, maxItems: MAX_KEYS },
  ),
  jwks: Type.Optional(jwksSchema),
  algorithms: list(oneOf(SIGNATURE_ALGORITHMS, 'An algorithm.'), 'The algorithms that are accepted.', {
    minItems: 1,
    uniqueItems: true,
  }),
  types: optionalList(
    string('A type.', { minLength: 1, maxLength: 256 }),
    'What `typ` of the header has to be, without case; absent: not checked. Keeps tokens out that the same key signs for something else.',
    { minItems: 1 },
  ),
  payload: optionalOneOf(
    ['unwrap', 'keep'],
    '`unwrap` puts the payload in the place of a compact or JSON body, `keep` leaves the body.',
    'unwrap',
  ),
  contentType: optionalString('The content type of a payload that was unwrapped.', {
    default: DEFAULT_CONTENT_TYPE,
    pattern: MEDIA_TYPE,
  }),
})

const sign = closed('Makes signatures.', {
  key: closed('The private key or the secret: `jwk`, `pem`, `file` or `secret`.', keySource),
  algorithm: oneOf(SIGNATURE_ALGORITHMS, 'The algorithm.'),
  typ: optionalText(256, 'The `typ` of the header; absent: none.'),
  cty: optionalText(256, 'The `cty` of the header; absent: none.'),
})

/** The configuration of `jws`. */
export const jwsSchema = policyOptions(
  {
    phase: optionalOneOf(['request', 'response'], 'Which body is signed.', 'request'),
    form: optionalOneOf(
      ['compact', 'json', 'detached'],
      'How the signature travels: the body is a compact JWS, or a flattened JSON one (RFC 7515 section 7.2.2), or the body stays as it is and a header holds the signature (appendix F).',
      'compact',
    ),
    header: optionalString('The header of a detached signature.', {
      default: DEFAULT_HEADER,
      minLength: 1,
      maxLength: 256,
    }),
    unencoded: optionalFlag(
      true,
      'A detached signature is over the body as it is, `b64: false` (RFC 7797), else over its base64url.',
    ),
    verify: Type.Optional(verify),
    sign: Type.Optional(sign),
    allowWeak: allowWeakSchema,
    maxBodyBytes: optionalSize('Largest body; default: the limit of the listener.'),
  },
  [
    'Either `verify` or `sign`. A request without signature is answered 401 `GW_SIGNATURE_MISSING`, one whose signature is not right, or made with an algorithm or a key that is not allowed, 401 `GW_SIGNATURE_INVALID`, a body that is no JWS 400 `GW_BODY_UNPARSABLE`; a response 502 `GW_RESPONSE_INVALID`. Bodies in a content coding are refused with 415 `GW_MEDIA_TYPE` or 502.',
    'Keys serve only for algorithms of their type, and at most four are tried, as with `jwt`; nothing that stands in a header is taken for a key. `crit` is refused but for `b64`, which has to be what `unencoded` says. A JSON body has `payload`, `protected` and `signature`, and may have `kid` in `header`; several signatures are not supported.',
    'The variable `jws` is the `kid` of the key that signed the request. A signature says nothing about when it was made: whoever saw a message can send it again.',
    'Empty requests are not signed, and responses to HEAD, 204 and 304 neither signed nor checked. RSA signatures, and bodies from 32 KB on, are computed on the threads of Node.',
  ],
)

/** The configuration of `jws`, derived from its schema. */
export type JwsConfig = Static<typeof jwsSchema>
/** How a signature travels. */
export type JwsForm = NonNullable<JwsConfig['form']>
