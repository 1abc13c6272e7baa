import type { Static } from '@sinclair/typebox'
import { callTls } from '../../shared/call-tls.js'
import { clientAuthKeys } from '../../shared/client-auth.js'
import {
  optionalClosed,
  optionalDuration,
  optionalInteger,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'
import { jwtSchema } from '../jwt/schema.js'

export const DEFAULT_TIMEOUT = '2s'
export const DEFAULT_TTL = '60s'
export const DEFAULT_NEGATIVE_TTL = '5s'
export const DEFAULT_STALE = '0ms'
export const DEFAULT_ENTRIES = 10_000
export const DEFAULT_FAILURES = 5
export const DEFAULT_OPEN = '5s'

const { issuers, audiences, requiredScopes, requiredClaims, forwardClaims } = jwtSchema.properties
const { tokenFrom, name, scheme, strip, maxTokenBytes, realm } = jwtSchema.properties
const { nameClaim, groupsClaim, rolesClaim } = jwtSchema.properties

const cache = optionalClosed('How answers are kept.', {
  scope: optionalOneOf(
    ['worker', 'gateway'],
    'Who keeps answers: each worker for itself, or all workers together, so that one of them asks about a token.',
    'gateway',
  ),
  ttl: optionalDuration(
    'How long a token counts as active, at most 1h and never longer than its `exp`: so long a revoked token can still be used. `0ms`: each request asks.',
    DEFAULT_TTL,
  ),
  negativeTtl: optionalDuration(
    'How long a token counts as not active, at most 1h. A token that is activated meanwhile has to wait.',
    DEFAULT_NEGATIVE_TTL,
  ),
  staleIfError: optionalDuration(
    'How long after `ttl` a token still counts as active while the server does not answer, at most 24h and never longer than its `exp`.',
    DEFAULT_STALE,
  ),
  maxEntries: optionalInteger('Answers that a worker keeps, 16 MB at most; as many again of the others.', {
    default: DEFAULT_ENTRIES,
    minimum: 1,
    maximum: 1_000_000,
  }),
})

const breaker = optionalClosed('When the server is left alone for a while.', {
  failures: optionalInteger('After so many failures in a row.', {
    default: DEFAULT_FAILURES,
    minimum: 1,
    maximum: 1000,
  }),
  openFor: optionalDuration('How long; then one call tries. At most 5m.', DEFAULT_OPEN),
})

/** The configuration of `oauth2-introspection`. */
export const introspectionSchema = policyOptions(
  {
    url: string('The introspection endpoint of the authorization server.', {
      minLength: 1,
      maxLength: 2048,
      destination: true,
    }),
    ...clientAuthKeys,
    ...{ issuers, audiences, requiredScopes, requiredClaims, tokenFrom, name, scheme, strip, maxTokenBytes },
    consumerClaim: optionalString(
      'The claim that is the id of the consumer; a token without it is refused. Default: `sub`, for tokens without it `client_id`.',
      { minLength: 1, maxLength: 256 },
    ),
    ...{ nameClaim, groupsClaim, rolesClaim, forwardClaims, realm },
    timeout: optionalDuration('Longest wait for the server, 1ms to 20s.', DEFAULT_TIMEOUT),
    cache,
    breaker,
    tls: callTls,
  },
  [
    'The server is asked for each token that is not known, by POST with the token in the form. Only an answer with 200 and `active: true` lets a request pass. Refusals are 401 `GW_AUTH_MISSING`, `GW_TOKEN_MALFORMED`, `GW_TOKEN_INACTIVE`, `GW_TOKEN_EXPIRED`, `GW_TOKEN_ISSUER`, `GW_TOKEN_AUDIENCE` and `GW_TOKEN_BINDING`, and 403 `GW_TOKEN_CLAIMS` and `GW_SCOPE_MISSING`, with the challenge of RFC 6750.',
    'No answer in time, another status, an answer that is no JSON object with `active`, or that is larger than 64 KB: 503 `GW_AUTH_UNAVAILABLE`, unless `cache.staleIfError` helps. The log of the gateway says what failed (`introspection_failed`). A 400 with `invalid_request`, `invalid_token` or `unsupported_token_type` means that the server does not take the token: it counts as not active.',
    'Requests with the same token at one time wait for one call. Tokens that are not active have room of their own, so that guesses cannot push out what is known of others. What is kept is found by a keyed digest: no token is kept. Whether a token has ended is what the server says: where the clock of the gateway is ahead, tokens are asked about more often, and not refused.',
    'Tokens are asked about as bearer tokens: one with another `token_type`, such as `DPoP`, is refused. One whose `cnf` names a certificate by `x5t#S256` (RFC 8705) is taken with that certificate alone: that of the connection, or one that a policy `mtls` before this one has taken from a trusted proxy; one that is bound to anything else is refused. Where the server calls refresh tokens active too, ask for `requiredClaims: { token_type: Bearer }`. The answer is in conditions as `jwt.claims["name"]`.',
  ],
)

/** The configuration of `oauth2-introspection`, derived from its schema. */
export type IntrospectionConfig = Static<typeof introspectionSchema>
