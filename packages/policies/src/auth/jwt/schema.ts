import type { Configured } from '@sluice/core'
import { allowWeakSchema, jwksSchema, keyMembers, MAX_KEYS } from '../../crypto/jose/key-schema.js'
import { SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../../crypto/keys/signature-algorithm.js'
import { remoteKeyOptions } from '../../identity/issuer/remote-keys.js'
import {
  acceptedTexts,
  claimOptions,
  consumerOptions,
  placeOptions,
} from '../../identity/token/token-options.js'
import * as field from '../../shared/options/options.js'

/** Default of `algorithms`. It contains no algorithm with a shared secret. */
const DEFAULT_ALGORITHMS: SignatureAlgorithm[] = ['ES256', 'RS256', 'PS256', 'EdDSA']

const issuer = field.optionalText(
  256,
  'Issuer required for tokens signed with these keys. Set it if issuers must not sign for each other.',
)

const key = field.closed('A key: `jwk`, `pem`, `file` or `secret`.', {
  ...keyMembers(SIGNATURE_ALGORITHMS),
  issuer,
})

/** Schema of the configuration of `jwt`. */
export const jwtSchema = field.policyOptions(
  {
    keys: field.optionalList(key, 'Accepted keys.', { minItems: 1, maxItems: MAX_KEYS }),
    jwks: field.optionalClosed('A key set (JWKS): `file`, `inline`, `url` or `discovery`.', {
      ...jwksSchema.properties,
      ...remoteKeyOptions,
      issuer,
    }),
    algorithms: field.optionalList(
      field.oneOf(SIGNATURE_ALGORITHMS, 'An algorithm.'),
      'Accepted algorithms. `none` is never accepted.',
      { default: DEFAULT_ALGORITHMS, minItems: 1, uniqueItems: true },
    ),
    allowWeak: allowWeakSchema,
    types: acceptedTexts(
      'Accepted values of the header parameter `typ`, case-insensitive. Default: `JWT`, `at+jwt` or no `typ`.',
      'A type, such as `at+jwt`.',
    ),
    ...claimOptions,
    clockSkew: field.optionalDuration('Tolerated clock difference for `exp` and `nbf`.', '60s'),
    requireExpiry: field.optionalFlag(true, 'Refuses tokens without `exp`, which never expire.'),
    ...placeOptions,
    consumerClaim: field.optionalText(256, 'Claim with the consumer id. A token without it is refused.', {
      default: 'sub',
    }),
    ...consumerOptions,
    cacheEntries: field.optionalInteger(
      'Maximum number of verified tokens that a worker caches to avoid repeated signature checks. 0 disables the cache.',
      { default: 10_000, minimum: 0, maximum: 1_000_000 },
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
export type JwtConfig = Configured<typeof jwtSchema>
