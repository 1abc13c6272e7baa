import { type Static, Type } from '@sinclair/typebox'
import { optionalFlag, optionalOneOf, string } from '../options.js'

const expression = string('An expression.', { minLength: 1, maxLength: 4096 })

/** The options that `rate-limit` and `quota` share. */
export const limitOptions = {
  key: Type.Optional(
    Type.Union([expression, Type.Array(expression, { minItems: 1, maxItems: 5 })], {
      default: 'client.ip',
      description:
        'What is counted apart: an expression such as `consumer.id`, `client.ip`, `req.header["x-tenant"]`, `route` or `"all"`, or a list of them; requests that agree in all of them share a count. With `client.ip` IPv6 addresses count by their /64. See docs/guides/conditions.md for what can be read; `route` and `api` are known too.',
    }),
  ),
  onMissingKey: optionalOneOf(
    ['anonymous', 'deny', 'skip'],
    'A request without a key, or with an empty one: counts together with all others of that kind, is refused with 403 `GW_LIMIT_KEY_MISSING`, or is not counted.',
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
        'Smallest cost that an expression can give. Default: 1, or 0 if the expression reads the response.',
    }),
  ),
  maxCost: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 1_000_000_000,
      description:
        'Largest cost that an expression can give. Larger and infinite values are reduced to it. Set it if callers can influence the cost.',
    }),
  ),
  countPer: optionalOneOf(
    ['policy', 'route', 'api'],
    'Whether all routes that use the policy share its counts, or each route, or the routes of an API. A policy that is written in a route is a policy of its own.',
    'policy',
  ),
  scope: optionalOneOf(
    ['cluster', 'gateway'],
    'Who shares the counts: all gateways with the same `state`, or the workers of this one. Without `state` both are the same.',
    'cluster',
  ),
  onStoreDown: optionalOneOf(
    ['local', 'open', 'closed'],
    'Behaviour while the store does not answer. `local`: each gateway counts on its own, and each worker while its supervisor is down (503 `GW_LIMITER_UNAVAILABLE` if the supervisor takes longer than 5 s). `open`: all requests pass uncounted. `closed`: requests are refused with 503 `GW_LIMITER_UNAVAILABLE`. Tokens that a worker has already leased are used in any case.',
    'local',
  ),
  shadow: optionalFlag(
    false,
    'Counts and tells, in header fields, metrics and the traffic log, but refuses nothing.',
  ),
  headers: optionalOneOf(
    ['draft', 'legacy', 'off'],
    'What clients are told: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10), `X-RateLimit-Limit`, `-Remaining` and `-Reset`, or nothing. `Retry-After` is always sent with a refusal.',
    'draft',
  ),
}

const shared = Type.Object(limitOptions)

/** What `rate-limit` and `quota` share of their configurations. */
export type LimitConfig = Static<typeof shared>

/** Paragraphs of the reference that both have. */
export const LIMIT_PARAGRAPHS = [
  'Workers take tokens from the store before they are needed and admit requests with those: a busy key costs no question per request. A key that is new to a worker waits for one answer. What is not used goes back after 200 ms. So no more is admitted than the limit says as long as the store answers; what a worker holds unused, at most what it needs in 100 ms and a quarter of what is left, can be missing elsewhere for so long. See docs/guides/rate-limits.md.',
  'A worker remembers 50,000 keys of a policy; the store in memory 1,000,000 of all. Keys longer than 80 characters are counted by their beginning and a digest.',
]
