import type { Static } from '@sinclair/typebox'
import { DURATION_PATTERN } from '@sluice/core'
import * as field from '../../shared/options/options.js'

const TOKEN = { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" }
const PARAMETER = { minLength: 1, maxLength: 200 }

/** Default of `targetedFields`. */
export const TARGETED_FIELDS: readonly string[] = ['CDN-Cache-Control']

/** Schema of the `response-cache` configuration. */
export const responseCacheSchema = field.policyOptions(
  {
    forced: field.optionalClosed(
      'Stores responses for a fixed time, regardless of `Cache-Control` and `Expires` of the upstream. Without it, RFC 9111 applies.',
      {
        ttl: field.string('Time a response is fresh.', { pattern: DURATION_PATTERN }),
        statuses: field.optionalList(
          field.integer('Status.', { minimum: 200, maximum: 599 }),
          'Statuses of responses that are stored.',
          { default: [200, 301, 308], minItems: 1, maxItems: 50 },
        ),
        methods: field.optionalList(
          field.oneOf(['GET', 'HEAD', 'POST'], 'Method.'),
          'Methods answered from the cache. With `POST`, request bodies are buffered and become part of the key.',
          { default: ['GET', 'HEAD'], minItems: 1, maxItems: 3 },
        ),
        overrideRefusal: field.optionalFlag(
          false,
          'Also stores responses with `Cache-Control: private` or `no-store`.',
        ),
      },
    ),
    targetedFields: field.optionalList(
      field.string('Response field.', TOKEN),
      'Response fields that override `Cache-Control` and `Expires` for this cache (RFC 9213). The first field that is present and valid counts. An empty list disables them.',
      { default: [...TARGETED_FIELDS], maxItems: 4 },
    ),
    heuristic: field.optionalFlag(
      false,
      'Heuristic freshness. A response with `Last-Modified` but no freshness directive is fresh for a tenth of the time since then, at most a day (RFC 9111, 4.2.2).',
    ),
    staleWhileRevalidate: field.optionalDuration(
      'Time a stale response is served while the gateway fetches a new one. Default for responses without this directive (RFC 5861).',
      '0s',
    ),
    staleIfError: field.optionalDuration(
      'Time a stale response is served if the upstream fails or answers 500, 502, 503 or 504. Default for responses without this directive (RFC 5861).',
      '0s',
    ),
    requestDirectives: field.optionalOneOf(
      ['honor', 'ignore'],
      'Handling of `Cache-Control` in requests. With `ignore`, clients cannot force a request to the upstream. The default with `forced` is `ignore`.',
      'honor',
    ),
    key: field.optionalClosed('Cache key, in addition to path, scheme, route and consumer.', {
      host: field.optionalFlag(true, 'Host with its port.'),
      query: field.optionalClosed('Query parameters in the key. Default: the whole query.', {
        only: field.optionalList(field.string('Query parameter.', PARAMETER), 'Only these parameters.', {
          maxItems: 100,
        }),
        except: field.optionalList(
          field.string('Query parameter.', PARAMETER),
          'All parameters except these.',
          { maxItems: 100 },
        ),
      }),
      headers: field.optionalList(
        field.string('Header field.', TOKEN),
        'Request header fields that are part of the key.',
        { maxItems: 20 },
      ),
      cookies: field.optionalList(
        field.string('Cookie name.', TOKEN),
        'Cookies that are part of the key. Requests with any other cookie bypass the cache.',
        { maxItems: 20 },
      ),
    }),
    shared: field.optionalFlag(
      false,
      'Consumers share responses. By default, responses are stored per consumer.',
    ),
    allow: field.optionalClosed('Responses that are not stored by default.', {
      authorization: field.optionalFlag(
        false,
        'Responses to requests with `Authorization`, an API key or another credential, if the upstream sends `public`, `s-maxage` or `must-revalidate` (RFC 9111, 3.5). With `forced`, they are stored per credential unless `shared` is true.',
      ),
      cookies: field.optionalFlag(
        false,
        'Responses to requests with cookies that `key.cookies` does not name. All clients share them, regardless of these cookies. Use it only if the upstream marks private responses with `Vary` or `Cache-Control`.',
      ),
      setCookie: field.optionalFlag(false, 'Responses with `Set-Cookie`. All clients get the same cookie.'),
    }),
    maxObjectBytes: field.optionalSize('Maximum size of a stored response body.', '1mb'),
    maxBytes: field.optionalSize(
      'Maximum cache size per worker, including overhead. The least recently used responses are evicted. Uses with the same `maxBytes` share one cache.',
      '64mb',
    ),
    scope: field.optionalOneOf(
      ['worker', 'gateway', 'cluster'],
      'Sharing of responses: within the worker, with all workers of the gateway, or with all replicas that use the same `state`. Each worker has its own cache. On a miss, it looks in the shared cache before it calls the upstream. A purge reaches all of them within two seconds.',
      'worker',
    ),
    coalesce: field.optionalClosed(
      'Request coalescing. Concurrent requests with the same key wait for one upstream response.',
      {
        max: field.optionalInteger('Maximum number of waiting requests per key. 0 turns coalescing off.', {
          default: 1000,
          minimum: 0,
          maximum: 100_000,
        }),
        wait: field.optionalDuration(
          'Maximum wait, at most 25s. After that, the request goes to the upstream.',
          '5s',
        ),
      },
    ),
    cacheStatus: field.optionalFlag(true, 'Adds `Cache-Status` to responses (RFC 9211).'),
  },
  [
    'Caches upstream responses. Without `forced`, it is a shared cache according to RFC 9111. The upstream controls it with `Cache-Control`, `Expires` and `Vary`. Stale responses are validated with `ETag` and `Last-Modified`. HEAD requests and single-range requests are answered from complete GET responses.',
    'List it after all authentication and authorization policies. Policies listed after it change the stored response. Policies listed before it change only what the client gets. If a policy after it identifies the consumer, the response is never stored.',
    'Unless `allow` permits it, responses with `Set-Cookie` and responses to requests with a body, a credential or cookies are not stored. Some responses are never stored: `Vary: *`, a status that applies to one request only (206, 304, 416, 429 …), bodies larger than `maxObjectBytes`, truncated bodies, bodies whose client disconnected, and bodies that end with the connection. A request field is always part of the key if it names the caller (`X-User`, `X-Tenant`, `X-Auth-Request-Email` …) or another host, path or method (`X-Forwarded-Host`, `X-Original-URL`, `X-HTTP-Method-Override` …).',
    'A successful unsafe request (POST, PUT, DELETE …) through a route with this policy invalidates cached responses of its URI, in all workers of the gateway. The same applies to the URIs in `Location` and `Content-Location` (RFC 9111, 4.4).',
    '`gw cache purge` removes responses: by key (`api.example.com/orders?page=2`), by a tag that the upstream sent in `Surrogate-Key`, by key prefix, or all. `Surrogate-Key` does not reach clients.',
  ],
  { deprecatedKeys: { maxObject: 'maxObjectBytes' } },
)

/** Configuration of `response-cache`, derived from its schema. */
export type ResponseCacheConfig = Static<typeof responseCacheSchema>
