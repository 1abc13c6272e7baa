import { type Static, Type } from '@sinclair/typebox'
import { optionalFlag, optionalOneOf, string } from '../options/options.js'

const expression = string('Expression.', { minLength: 1, maxLength: 4096 })

/** Options that `rate-limit` and `quota` share. */
export const limitOptions = {
  key: Type.Optional(
    Type.Union([expression, Type.Array(expression, { minItems: 1, maxItems: 5 })], {
      default: 'client.ip',
      description:
        'Counter key: an expression such as `consumer.id`, `client.ip`, `req.header["x-tenant"]`, `route` or `"all"`, or a list of expressions. Requests with the same values share a counter. `client.ip` counts IPv6 addresses by their /64 network. The available variables are those in docs/guides/conditions.md, and `route` and `api`.',
    }),
  ),
  onMissingKey: optionalOneOf(
    ['anonymous', 'deny', 'skip'],
    'Handling of requests without a key or with an empty one: they share one counter, are refused with 403 `GW_LIMIT_KEY_MISSING`, or are not counted.',
    'anonymous',
  ),
  cost: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000_000 }), expression], {
      default: 1,
      description:
        'Cost of a request: a number, or an expression such as `req.method == "POST" ? 5 : 1`. An expression that reads the response, such as `res.header["x-cost"]`, counts as 1 at first, and the rest is charged when the response arrives. Missing, negative and non-numeric values count as 1. Fractions are rounded up. If callers can influence the cost, set `minCost` and `maxCost`.',
    }),
  ),
  minCost: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description:
        'Minimum cost that an expression can yield. Default: 1, or 0 if the expression reads the response.',
    }),
  ),
  maxCost: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 1_000_000_000,
      description:
        'Maximum cost that an expression can yield. Larger and infinite values are reduced to it. Set it if callers can influence the cost.',
    }),
  ),
  counterScope: optionalOneOf(
    ['policy', 'route', 'api'],
    'Routes that share a counter: all routes with this policy, only the route itself, or the routes of an API. A policy defined inline in a route always counts separately.',
    'policy',
  ),
  scope: optionalOneOf(
    ['cluster', 'gateway'],
    'Gateways that share a counter: all gateways with the same `state`, or only the workers of this one. Without `state` there is no difference.',
    'cluster',
  ),
  onStoreDown: optionalOneOf(
    ['local', 'open', 'closed'],
    'Behaviour while the store does not respond. `local`: each gateway counts separately, and so does each worker while its supervisor is down (503 `GW_LIMITER_UNAVAILABLE` if the supervisor takes longer than 5 s). `open`: all requests pass uncounted. `closed`: requests are refused with 503 `GW_LIMITER_UNAVAILABLE`. Tokens that a worker has already leased are used in any case.',
    'local',
  ),
  dryRun: optionalFlag(
    false,
    'Count and report in headers, metrics and the traffic log, but refuse nothing.',
  ),
  headers: optionalOneOf(
    ['draft', 'legacy', 'off'],
    'Response headers: `RateLimit` and `RateLimit-Policy` (`draft`, draft-ietf-httpapi-ratelimit-headers-10), `X-RateLimit-Limit`, `-Remaining` and `-Reset` (`legacy`), or none (`off`). Refusals always have `Retry-After`.',
    'draft',
  ),
}

/** Old names of the shared options. */
export const DEPRECATED_LIMIT_KEYS = { countPer: 'counterScope', shadow: 'dryRun' } as const

const shared = Type.Object(limitOptions)

/** Configuration that `rate-limit` and `quota` share. */
export type LimitConfig = Static<typeof shared>

/** Reference paragraphs that `rate-limit` and `quota` share. */
export const LIMIT_PARAGRAPHS = [
  'Workers lease tokens from the store in advance, so a busy key needs no store call per request. The first request of a key in a worker waits for one call. Unused tokens are returned after 200 ms. While the store responds, the gateway never admits more than the limit. A worker holds at most the tokens that it needs in 100 ms, and at most a quarter of the remaining ones. Other workers cannot use those tokens meanwhile. See docs/guides/rate-limits.md.',
  'A worker remembers 50,000 keys per policy, and the in-memory store 1,000,000 keys in total. A key longer than 80 characters is shortened to its beginning and a digest.',
]
