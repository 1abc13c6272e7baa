import type { Configured } from '@sluice/core'
import { clientAuthKeys } from '../../identity/oauth/client-auth.js'
import { claimOptions, consumerOptions, placeOptions } from '../../identity/token/token-options.js'
import { callTls } from '../../shared/call/call-tls.js'
import * as field from '../../shared/options/options.js'

const cache = field.section('Cache of introspection responses.', {
  scope: field.optionalOneOf(
    ['worker', 'gateway'],
    'Cache scope: one cache per worker, or one shared by all workers of the gateway.',
    'gateway',
  ),
  ttl: field.optionalDuration(
    'Time an active token is cached, at most 1h and never beyond its `exp`. A revoked token still works for this time. `0ms` turns caching off.',
    '60s',
  ),
  negativeTtl: field.optionalDuration(
    'Time an inactive token is cached, at most 1h. A token activated meanwhile is still refused for this time.',
    '5s',
  ),
  staleIfError: field.optionalDuration(
    'Time after `ttl` that a cached active token is still accepted while the server fails, at most 24h and never beyond its `exp`.',
    '0ms',
  ),
  maxEntries: field.optionalInteger(
    'Maximum number of cached active tokens per worker, at most 16 MB. Inactive tokens have a second cache of the same size.',
    { default: 10_000, minimum: 1, maximum: 1_000_000 },
  ),
})

const breaker = field.section('Circuit breaker for the authorization server.', {
  failures: field.optionalInteger('Number of consecutive failures that opens the breaker.', {
    default: 5,
    minimum: 1,
    maximum: 1000,
  }),
  openFor: field.optionalDuration(
    'Time the breaker stays open, at most 5m. Then one call probes the server.',
    '5s',
  ),
})

/** Schema of the `oauth2-introspection` configuration. */
export const introspectionSchema = field.policyOptions(
  {
    url: field.text(2048, 'The introspection endpoint of the authorization server.', { destination: true }),
    ...clientAuthKeys,
    ...claimOptions,
    ...placeOptions,
    consumerClaim: field.optionalText(
      256,
      'Claim with the consumer id. A token without it is refused. Default: `sub`, or `client_id` if the token has no `sub`.',
    ),
    ...consumerOptions,
    timeout: field.optionalDuration('Timeout of a call to the server, 1ms to 20s.', '2s'),
    cache,
    breaker,
    tls: callTls,
  },
  [
    'The gateway sends each token that is not cached to the server, in a form by POST. A request passes only if the response is 200 with `active: true`. Refusals are 401 `GW_AUTH_MISSING`, `GW_TOKEN_MALFORMED`, `GW_TOKEN_INACTIVE`, `GW_TOKEN_EXPIRED`, `GW_TOKEN_ISSUER`, `GW_TOKEN_AUDIENCE` and `GW_TOKEN_BINDING`, and 403 `GW_TOKEN_CLAIMS` and `GW_SCOPE_MISSING`, with the challenge of RFC 6750.',
    'A request gets 503 `GW_AUTH_UNAVAILABLE` if the response is late, has another status, is not a JSON object with `active`, or exceeds 64 KB. `cache.staleIfError` can bridge such a failure. The gateway log gives the reason (`introspection_failed`). A 400 with `invalid_request`, `invalid_token` or `unsupported_token_type` means that the token is not active.',
    'Concurrent requests with the same token share one call. Inactive tokens have a separate cache, so guessed tokens cannot evict valid ones. The cache key is a keyed digest; tokens are not stored. The server decides if a token has expired. If the clock of the gateway is ahead, tokens are checked more often but not refused.',
    'Only bearer tokens are accepted; another `token_type`, such as `DPoP`, is refused. If `cnf` names a certificate by `x5t#S256` (RFC 8705), the client must use that certificate. It is the certificate of the connection, or the one that an earlier `mtls` policy took from a trusted proxy. A token bound to anything else is refused. If the server also reports refresh tokens as active, set `requiredClaims: { token_type: Bearer }`. Conditions read the response as `jwt.claims["name"]`.',
  ],
)

/** Configuration of `oauth2-introspection`, derived from its schema. */
export type IntrospectionConfig = Configured<typeof introspectionSchema>
