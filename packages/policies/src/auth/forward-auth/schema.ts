import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { callTls } from '../../shared/call/call-tls.js'
import * as field from '../../shared/options/options.js'

const header = field.text(256, 'A header name.')

const headers = (description: string, fallback: string[]) =>
  field.optionalList(header, description, { default: fallback, maxItems: 64, uniqueItems: true })

const consumer = field.optionalClosed(
  'Consumer, read from fields of an allowing response. Fields with these names sent by the client are removed.',
  {
    id: field.text(256, 'Field with the consumer id. A response without it is a failure.'),
    name: field.optionalText(256, 'Field with the consumer name. Default: the id.'),
    groups: field.optionalText(256, 'Field with the groups, separated by commas.'),
    roles: field.optionalText(256, 'Field with the roles, separated by commas.'),
    scopes: field.optionalText(256, 'Field with the scopes, separated by spaces.'),
  },
)

const cache = field.optionalClosed('Caches decisions. Without it the server is called for every request.', {
  scope: field.optionalOneOf(
    ['worker', 'gateway'],
    'Cache scope: each worker separately, or all workers of the gateway together.',
    'gateway',
  ),
  key: field.optionalList(
    field.text(4096, 'An expression.'),
    'Expressions that form the cache key, such as `req.header["authorization"]` and `req.method`. Requests with the same values get the same decision. Default: everything sent to the server, and no caching with `withBody`. A missing value is part of the key too.',
    { minItems: 1, maxItems: 16 },
  ),
  ttl: field.optionalDuration(
    'Time for which an allowing decision is cached, at most 1h. A shorter `cache-control` of the response takes precedence.',
    '30s',
  ),
  negativeTtl: field.optionalDuration(
    'Time for which a refusal with 401 or 403 is cached, at most 1h.',
    '5s',
  ),
  staleIfError: field.optionalDuration(
    'Time after that in which a decision is still used if the server does not respond, at most 24h.',
    '0ms',
  ),
  maxEntries: field.optionalInteger(
    'Maximum number of decisions per worker, which together take at most 16 MB.',
    { default: 10_000, minimum: 1, maximum: 1_000_000 },
  ),
})

/** Schema of the configuration of `forward-auth`. */
export const forwardAuthSchema = field.policyOptions(
  {
    url: field.text(2048, 'URL of the authorization server, with path and query.', { destination: true }),
    method: field.optionalOneOf(['GET', 'HEAD', 'POST'], 'Method of the call.', 'GET'),
    requestHeaders: headers('Fields of the client to send to the server, with all their lines.', [
      'authorization',
      'cookie',
    ]),
    headers: field.optionalRecord(
      Type.String({ maxLength: 4096 }),
      'Additional fields for the server. Values may contain {{placeholders}}, as in `header`. Empty values are omitted.',
      { maxProperties: 32 },
    ),
    withBody: field.optionalFlag(
      false,
      'Sends the request body too, with method POST. The body is buffered.',
    ),
    upstreamHeaders: headers(
      'Fields of an allowing response to add to the upstream request. Fields with these names sent by the client are always removed, including spellings with underscores instead of hyphens.',
      [],
    ),
    clientHeaders: headers(
      "Fields of an allowing response to add to the client's response, such as `set-cookie` of a renewed session.",
      [],
    ),
    denyHeaders: headers('Fields of a refusing response to send to the client.', [
      'content-type',
      'location',
      'set-cookie',
      'www-authenticate',
      'retry-after',
    ]),
    consumer,
    timeout: field.optionalDuration('Maximum time to wait for the server, 1ms to 20s.', '1s'),
    maxResponseBytes: field.optionalSize(
      'Maximum size of the response body. A larger one is a failure.',
      '64kb',
    ),
    onFailure: field.optionalOneOf(
      ['deny', 'allow'],
      'Behaviour if the server does not respond, responds with 5xx, or gives no decision: `deny` responds with 503 `GW_AUTH_UNAVAILABLE`. `allow` lets the request continue without the server\'s fields and sets `vars["forward-auth"]` to `unavailable`.',
      'deny',
    ),
    cache,
    tls: callTls,
  },
  [
    'Asks your server about each request, like `forwardAuth` in Traefik, `auth_request` in nginx and the HTTP service of `ext_authz` in Envoy. The request is described by `x-forwarded-method`, `x-forwarded-proto`, `x-forwarded-host`, `x-forwarded-uri` and `x-forwarded-for`, which clients cannot forge.',
    'A 2xx response allows the request. A 3xx or 4xx response is passed to the client with its status, its body and the fields of `denyHeaders`. Everything else is a failure: a timeout, 5xx, a response that is too large or not HTTP. Redirects are passed on, never followed.',
    'Concurrent identical calls are coalesced into one, even without `cache`. Decisions with `set-cookie`, redirects, and those with `no-store`, `no-cache` or `private` in `cache-control` are never cached or shared. Refusals are cached separately, so that they cannot evict allowing decisions. Cache keys are digests, so no credentials are stored. Each call carries `x-sluice-hops`. A call that returns to the gateway more than 5 times is refused with 508 `GW_CALL_LOOP`.',
  ],
  { deprecatedKeys: { addHeaders: 'headers', maxAnswerBytes: 'maxResponseBytes' } },
)

/** Configuration of `forward-auth`, derived from its schema. */
export type ForwardAuthConfig = Configured<typeof forwardAuthSchema>
