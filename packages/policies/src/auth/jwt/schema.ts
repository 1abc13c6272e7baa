import { type Static, Type } from '@sinclair/typebox'
import { allowWeakSchema, keyMembers, MAX_KEYS, remoteJwksMembers } from '../../crypto/jose/key-schema.js'
import { SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../../crypto/keys/signature-algorithm.js'
import {
  closed,
  list,
  oneOf,
  optionalClosed,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalSize,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options/options.js'

/** Default of `algorithms`. It contains no algorithm with a shared secret. */
export const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ['ES256', 'RS256', 'PS256', 'EdDSA']
/** Default of `clockSkew`. */
export const DEFAULT_SKEW = '60s'
/** Default of `maxTokenBytes`. */
export const DEFAULT_TOKEN_BYTES = '8kb'
/** Default of `consumerClaim`. */
export const DEFAULT_CONSUMER_CLAIM = 'sub'
/** Default of `cacheEntries`. */
export const DEFAULT_CACHE_ENTRIES = 10_000

const claimName = { minLength: 1, maxLength: 256 }
const issuer = optionalString(
  'Issuer required for tokens signed with these keys. Set it if issuers must not sign for each other.',
  { ...claimName },
)

const key = closed('A key: `jwk`, `pem`, `file` or `secret`.', {
  ...keyMembers(SIGNATURE_ALGORITHMS),
  issuer,
})

const scalar = [
  string('A string.'),
  Type.Number({ description: 'A number.' }),
  Type.Boolean({ description: 'A boolean.' }),
]

function texts(description: string, item: string) {
  return optionalList(string(item, { ...claimName, maxLength: 2048 }), description, {
    minItems: 1,
    maxItems: 1000,
    uniqueItems: true,
  })
}

/** Schema of the configuration of `jwt`. */
export const jwtSchema = policyOptions(
  {
    keys: optionalList(key, 'Accepted keys.', { minItems: 1, maxItems: MAX_KEYS }),
    jwks: optionalClosed('A key set (JWKS): `file`, `inline`, `url` or `discovery`.', {
      ...remoteJwksMembers,
      issuer,
    }),
    algorithms: optionalList(
      oneOf(SIGNATURE_ALGORITHMS, 'An algorithm.'),
      'Accepted algorithms. `none` is never accepted.',
      { default: [...DEFAULT_ALGORITHMS], minItems: 1, uniqueItems: true },
    ),
    allowWeak: allowWeakSchema,
    issuers: texts('Accepted values of `iss`. Without it `iss` is not checked.', 'An issuer.'),
    audiences: texts(
      'Accepted values of `aud`, of which the token must contain one. Without it `aud` is not checked.',
      'An audience.',
    ),
    types: texts(
      'Accepted values of the header parameter `typ`, case-insensitive. Default: `JWT`, `at+jwt` or no `typ`.',
      'A type, such as `at+jwt`.',
    ),
    requiredScopes: texts(
      'Scopes that the token must have in `scope` or `scp`, as a list or as a string with spaces.',
      'A scope.',
    ),
    requiredClaims: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^.{1,256}$' }),
        Type.Union([...scalar, list(Type.Union(scalar, { description: 'A value.' }), 'Accepted values.')]),
        {
          description:
            'Claims that the token must have, and their accepted value or list of values. An empty list only requires the claim to be present. `a.b` reads `b` inside of `a`. A claim that is itself a list matches if one of its items does.',
        },
      ),
    ),
    clockSkew: optionalDuration('Tolerated clock difference for `exp` and `nbf`.', DEFAULT_SKEW),
    requireExpiry: optionalFlag(true, 'Refuses tokens without `exp`, which never expire.'),
    maxTokenBytes: optionalSize('Maximum size of a token.', DEFAULT_TOKEN_BYTES),
    tokenFrom: optionalOneOf(
      ['header', 'cookie', 'query'],
      'Location of the token. Prefer a header: query parameters end up in logs and browser histories.',
      'header',
    ),
    name: optionalString(
      'Header name (case-insensitive), or cookie or query parameter name (case-sensitive). Default: `authorization`, or `access_token` for cookies and queries.',
      { ...claimName },
    ),
    scheme: optionalString(
      'Authentication scheme before the token in a header, case-insensitive. Default: `Bearer` for `authorization`, none for other headers.',
      { maxLength: 64 },
    ),
    strip: optionalFlag(true, 'Removes the token before the request is sent upstream.'),
    consumerClaim: optionalString('Claim with the consumer id. A token without it is refused.', {
      ...claimName,
      default: DEFAULT_CONSUMER_CLAIM,
    }),
    nameClaim: optionalString('Claim with the consumer name. Default: the id.', {
      ...claimName,
    }),
    groupsClaim: optionalString(
      'Claim with the groups of the consumer, as a list or as a string with spaces, such as `realm_access.roles`.',
      { ...claimName },
    ),
    rolesClaim: optionalString('Claim with the roles of the consumer, in the same format as groups.', {
      ...claimName,
    }),
    forwardClaims: Type.Optional(
      Type.Record(Type.String({ pattern: '^.{1,256}$' }), string('Header for the claim.', { ...claimName }), {
        description:
          'Claims and the headers in which they are sent upstream. Fields with these names sent by the client are always removed, including spellings with underscores instead of hyphens. A claim that is absent or not valid in a header (line breaks, non-ASCII) is not sent.',
      }),
    ),
    realm: optionalString('Protection space named in the challenge.', { maxLength: 256 }),
    cacheEntries: optionalInteger(
      'Maximum number of verified tokens that a worker caches to avoid repeated signature checks. 0 disables the cache.',
      { default: DEFAULT_CACHE_ENTRIES, minimum: 0, maximum: 1_000_000 },
    ),
  },
  [
    'The token is a signed JWT (RFC 7519) in compact serialisation. Invalid tokens get 401 `GW_AUTH_MISSING`, `GW_TOKEN_MALFORMED`, `GW_TOKEN_SIGNATURE`, `GW_TOKEN_EXPIRED`, `GW_TOKEN_NOT_YET_VALID`, `GW_TOKEN_ISSUER`, `GW_TOKEN_AUDIENCE` or `GW_TOKEN_BINDING`, or 403 `GW_TOKEN_CLAIMS` or `GW_SCOPE_MISSING`, with the challenge of RFC 6750.',
    'If the claim `cnf` names a certificate by `x5t#S256` (RFC 8705), the token is only accepted with that client certificate. It comes from the connection, or from an earlier `mtls` policy that reads it from a trusted proxy. A token bound to anything else, such as a DPoP key, is refused.',
    'A key is used only for algorithms of its type: EC P-256 for ES256, P-384 for ES384, P-521 for ES512, Ed25519 for EdDSA and Ed25519, RSA for RS and PS, secrets for HS. A public key is therefore never used as a secret, and `alg` of a token can only select an allowed algorithm. A token names its key by `kid`. If it names no key or an unknown one, at most four keys are tried. `jwk`, `jku`, `x5c` and `x5u` in a token are ignored, and `crit` is refused.',
    'Keys of `url` and `discovery` are fetched when the first token arrives, by one worker for the whole gateway. A token with an unknown `kid` triggers another fetch, at most every 10 s, so new keys are accepted as soon as they are used. Secrets, weak keys and unsupported keys in the set are ignored.',
    '`gw validate` warns if neither `audiences` nor `requiredClaims` checks `aud`, because tokens for other services of the issuer are then accepted.',
    'Segments must be canonical base64url, and header and claims JSON without duplicate names. `exp`, `nbf` and `iat` must be numbers, `iss` and `sub` strings, `aud` a string or a list of strings.',
    'Later conditions can read claims as `jwt.claims["name"]`, as text. Verified tokens are cached, up to 16 MB, but their times are checked for every request. Tokens with an invalid signature are not part of that cache, and a reload clears it.',
  ],
)

/** Configuration of `jwt`, derived from its schema. */
export type JwtConfig = Static<typeof jwtSchema>
