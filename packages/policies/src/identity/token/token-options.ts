import { type Static, Type } from '@sinclair/typebox'
import type { SignatureAlgorithm } from '../../crypto/keys/signature-algorithm.js'
import {
  list,
  optionalDuration,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalSize,
  optionalString,
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
const claimName = { minLength: 1, maxLength: 256 }

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

/** Options of policies that verify tokens: required claims, the location of the token, and the consumer. */
export const tokenOptions = {
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
}

const tokenOptionsSchema = Type.Object(tokenOptions)

/** Configuration of token verification, derived from its options. */
export type TokenConfig = Static<typeof tokenOptionsSchema>
