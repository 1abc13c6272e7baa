import { type TObject, Type } from '@sinclair/typebox'
import { type Configured, isToken } from '@sluice/core'
import {
  type CredentialLocation,
  cookieCredential,
  headerCredential,
  queryCredential,
} from '../../shared/field-location/credential.js'
import * as field from '../../shared/options/options.js'

/** Returns the schema of a list of accepted or required texts. */
export function acceptedTexts(description: string, item: string) {
  const options = { minItems: 1, maxItems: 1000, uniqueItems: true }
  return field.optionalList(field.text(2048, item), description, options)
}

const scalar = [
  field.string('A string.'),
  Type.Number({ description: 'A number.' }),
  Type.Boolean({ description: 'A boolean.' }),
]

/** Options for the claims of a token. */
export const claimOptions = {
  issuers: acceptedTexts('Accepted values of `iss`. Without it `iss` is not checked.', 'An issuer.'),
  audiences: acceptedTexts(
    'Accepted values of `aud`, of which the token must contain one. Without it `aud` is not checked.',
    'An audience.',
  ),
  requiredScopes: acceptedTexts(
    'Scopes that the token must have in `scope` or `scp`, as a list or as a string with spaces.',
    'A scope.',
  ),
  requiredClaims: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^.{1,256}$' }),
      Type.Union([
        ...scalar,
        field.list(Type.Union(scalar, { description: 'A value.' }), 'Accepted values.'),
      ]),
      {
        description:
          'Claims that the token must have, and their accepted value or list of values. An empty list only requires the claim to be present. `a.b` reads `b` inside of `a`. A claim that is itself a list matches if one of its items does.',
      },
    ),
  ),
}

/** Options for the place of a token in a request. */
export const placeOptions = {
  maxTokenBytes: field.optionalSize('Maximum size of a token.', '8kb'),
  tokenFrom: field.optionalOneOf(
    ['header', 'cookie', 'query'],
    'Location of the token. Prefer a header: query parameters end up in logs and browser histories.',
    'header',
  ),
  name: field.optionalText(
    256,
    'Header name (case-insensitive), or cookie or query parameter name (case-sensitive). Default: `authorization`, or `access_token` for cookies and queries.',
  ),
  scheme: field.optionalString(
    'Authentication scheme before the token in a header, case-insensitive. Default: `Bearer` for `authorization`, none for other headers.',
    { maxLength: 64 },
  ),
  strip: field.optionalFlag(true, 'Removes the token before the request is sent upstream.'),
  realm: field.optionalString('Protection space named in the challenge.', { maxLength: 256 }),
}

/** Options for the claims that describe the consumer, in addition to `consumerClaim`. */
export const consumerOptions = {
  nameClaim: field.optionalText(256, 'Claim with the consumer name. Default: the id.'),
  groupsClaim: field.optionalText(
    256,
    'Claim with the groups of the consumer, as a list or as a string with spaces, such as `realm_access.roles`.',
  ),
  rolesClaim: field.optionalText(256, 'Claim with the roles of the consumer, in the same format as groups.'),
  forwardClaims: Type.Optional(
    Type.Record(Type.String({ pattern: '^.{1,256}$' }), field.text(256, 'Header for the claim.'), {
      description:
        'Claims and the headers in which they are sent upstream. Fields with these names sent by the client are always removed, including spellings with underscores instead of hyphens. A claim that is absent or not valid in a header (line breaks, non-ASCII) is not sent.',
    }),
  ),
}

/** Configured rules for the claims of a token. */
export type ClaimConfig = Configured<TObject<typeof claimOptions>>
/** Configured place of a token. */
export type PlaceConfig = Configured<TObject<typeof placeOptions>>
/** Configured claims of the consumer. */
export type ConsumerConfig = Configured<TObject<typeof consumerOptions>> & { readonly consumerClaim: string }

/** Compiles the location of the token. @throws Error if the name is not valid there. */
export function tokenLocation({
  tokenFrom,
  name,
  scheme,
}: Pick<PlaceConfig, 'tokenFrom' | 'name' | 'scheme'>): CredentialLocation {
  if (tokenFrom === 'header') return tokenHeader(name ?? 'authorization', scheme)
  if (scheme !== undefined) throw new Error("'scheme' is only for a token in a header; remove it")
  const written = name ?? 'access_token'
  return tokenFrom === 'query' ? queryCredential(written, '') : cookieCredential(written)
}

function tokenHeader(name: string, written: string | undefined): CredentialLocation {
  const scheme = written ?? (name.toLowerCase() === 'authorization' ? 'Bearer' : '')
  if (scheme !== '' && !isToken(scheme))
    throw new Error("'scheme' must be one word, without a trailing space")
  return headerCredential(name, scheme === '' ? '' : `${scheme} `)
}
