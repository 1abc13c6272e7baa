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
} from '../../shared/options.js'

/** Default of `algorithms`: nothing with a shared secret. */
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
  'Tokens that these keys sign have to be of this issuer. Needed where issuers must not sign for each other.',
  { ...claimName },
)

const key = closed('One key: `jwk`, `pem`, `file` or `secret`.', {
  ...keyMembers(SIGNATURE_ALGORITHMS),
  issuer,
})

const scalar = [
  string('A text.'),
  Type.Number({ description: 'A number.' }),
  Type.Boolean({ description: 'True or false.' }),
]

function texts(description: string, item: string) {
  return optionalList(string(item, { ...claimName, maxLength: 2048 }), description, {
    minItems: 1,
    maxItems: 1000,
    uniqueItems: true,
  })
}

/** The configuration of `jwt`. */
export const jwtSchema = policyOptions(
  {
    keys: optionalList(key, 'The keys that may have signed.', { minItems: 1, maxItems: MAX_KEYS }),
    jwks: optionalClosed('A set of keys (JWKS): `file`, `inline`, `url` or `discovery`.', {
      ...remoteJwksMembers,
      issuer,
    }),
    algorithms: optionalList(
      oneOf(SIGNATURE_ALGORITHMS, 'An algorithm.'),
      'The algorithms that are accepted; `none` is not among those that can be.',
      { default: [...DEFAULT_ALGORITHMS], minItems: 1, uniqueItems: true },
    ),
    allowWeak: allowWeakSchema,
    issuers: texts('Whose tokens are accepted, by `iss`; absent: not checked.', 'An issuer.'),
    audiences: texts(
      'Whom the token has to be meant for, by `aud`: one of these; absent: not checked.',
      'An audience.',
    ),
    types: texts(
      'What `typ` of the header has to be, without case; absent: `JWT`, `at+jwt` or no `typ`.',
      'A type, such as `at+jwt`.',
    ),
    requiredScopes: texts(
      'Scopes that the token needs, all of them, in `scope` or `scp`: a list, or a text with spaces.',
      'A scope.',
    ),
    requiredClaims: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^.{1,256}$' }),
        Type.Union([...scalar, list(Type.Union(scalar, { description: 'A value.' }), 'One of them.')]),
        {
          description:
            'Claims that the token needs, with their value or a list of values of which one is enough; an empty list asks only that the claim is there. `a.b` reads `b` inside of `a`. Of a claim that is a list one item is enough.',
        },
      ),
    ),
    clockSkew: optionalDuration('How far clocks may differ, for `exp` and `nbf`.', DEFAULT_SKEW),
    requireExpiry: optionalFlag(true, 'Refuses tokens without `exp`, which never end.'),
    maxTokenBytes: optionalSize('Largest token that is looked at.', DEFAULT_TOKEN_BYTES),
    tokenFrom: optionalOneOf(
      ['header', 'cookie', 'query'],
      'Where the token stands. Queries end up in logs and histories; prefer a header.',
      'header',
    ),
    name: optionalString(
      'The header, in any case, or the cookie or query parameter, exactly; default: `authorization`, else `access_token`.',
      { ...claimName },
    ),
    scheme: optionalString(
      'The word before the token in a header, without case; default: `Bearer` in `authorization`, none in other headers.',
      { maxLength: 64 },
    ),
    strip: optionalFlag(true, 'Removes the token before the upstream sees the request.'),
    consumerClaim: optionalString(
      'The claim that is the id of the consumer; a token without it is refused.',
      { ...claimName, default: DEFAULT_CONSUMER_CLAIM },
    ),
    nameClaim: optionalString('The claim that is the name of the consumer; default: the id.', {
      ...claimName,
    }),
    groupsClaim: optionalString(
      'The claim with the groups of the consumer: a list, or a text with spaces, such as `realm_access.roles`.',
      { ...claimName },
    ),
    rolesClaim: optionalString('The claim with the roles of the consumer, written like its groups.', {
      ...claimName,
    }),
    forwardClaims: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^.{1,256}$' }),
        string('The header for the claim.', { ...claimName }),
        {
          description:
            'Headers for the upstream, by claim. What the client sent under those names is always removed first, also with underscores for hyphens; a claim that is absent or cannot stand in a header, because it has a line break or is not ASCII, sends none.',
        },
      ),
    ),
    realm: optionalString('The protection space that the challenge names.', { maxLength: 256 }),
    cacheEntries: optionalInteger(
      'How many tokens a worker remembers as verified, so that their signature is not checked again; 0: none.',
      { default: DEFAULT_CACHE_ENTRIES, minimum: 0, maximum: 1_000_000 },
    ),
  },
  [
    'The token is a signed JWT (RFC 7519) in compact form. Refusals are 401 `GW_AUTH_MISSING`, `GW_TOKEN_MALFORMED`, `GW_TOKEN_SIGNATURE`, `GW_TOKEN_EXPIRED`, `GW_TOKEN_NOT_YET_VALID`, `GW_TOKEN_ISSUER`, `GW_TOKEN_AUDIENCE` and `GW_TOKEN_BINDING`, and 403 `GW_TOKEN_CLAIMS` and `GW_SCOPE_MISSING`, with the challenge of RFC 6750.',
    'A token whose claim `cnf` names a certificate by `x5t#S256` (RFC 8705) is taken with that certificate alone: that of the connection, or one that a policy `mtls` before this one has taken from a trusted proxy. A token that is bound to anything else, such as the key of DPoP proofs, is refused.',
    'A key serves only for algorithms of its type: EC P-256 for ES256, P-384 for ES384, P-521 for ES512, Ed25519 for EdDSA and Ed25519, RSA for RS and PS, secrets for HS. So a public key is never taken for a secret, and `alg` of a token chooses among what the configuration allows and nothing else. A token names its key by `kid`; one that names an unknown key, or none, is tried with at most four keys. `jwk`, `jku`, `x5c` and `x5u` in a token are not looked at; `crit` is refused.',
    'Keys of `url` and `discovery` are fetched when the first token comes, by one worker for all of a gateway. A token that names a key which nobody knows has them fetched again, at most every 10 s, so that new keys are taken as soon as they sign. Secrets, weak keys and keys of other kinds in the set are left out.',
    '`gw validate` warns where neither `audiences` nor `requiredClaims` asks for `aud`: tokens that the issuer has made for other services are accepted then.',
    'Segments have to be canonical base64url, header and claims JSON without repeated names; `exp`, `nbf` and `iat` have to be numbers, `iss` and `sub` texts, `aud` a text or a list of them.',
    'The claims are in conditions as `jwt.claims["name"]` from then on, as text. Verified tokens are remembered, at most 16 MB of them; their times are checked for each request. Nothing that failed the check of its signature is remembered, and a reload begins again.',
  ],
)

/** The configuration of `jwt`, derived from its schema. */
export type JwtConfig = Static<typeof jwtSchema>
