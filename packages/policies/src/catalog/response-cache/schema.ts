import type { Static } from '@sinclair/typebox'
import {
  integer,
  oneOf,
  optionalClosed,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalSize,
  policyOptions,
  string,
} from '../../shared/options.js'

const TOKEN = { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" }
const PARAMETER = { minLength: 1, maxLength: 200 }

/** Targeted cache control fields that count by default. */
export const TARGETED_FIELDS: readonly string[] = ['CDN-Cache-Control']

/** The configuration of `response-cache`. */
export const responseCacheSchema = policyOptions(
  {
    forced: optionalClosed(
      'Keeps responses for a fixed time, whatever `Cache-Control` and `Expires` of the upstream say of freshness. Without it RFC 9111 decides.',
      {
        ttl: string('How long a response is fresh.', { pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$' }),
        statuses: optionalList(
          integer('A status.', { minimum: 200, maximum: 599 }),
          'Statuses of responses that are kept.',
          { default: [200, 301, 308], minItems: 1, maxItems: 50 },
        ),
        methods: optionalList(
          oneOf(['GET', 'HEAD', 'POST'], 'A method.'),
          'Methods that are answered from the store. With `POST` request bodies are collected, and are part of the key.',
          { default: ['GET', 'HEAD'], minItems: 1, maxItems: 3 },
        ),
        overrideRefusal: optionalFlag(
          false,
          'Keeps responses with `Cache-Control: private` or `no-store` too.',
        ),
      },
    ),
    targetedFields: optionalList(
      string('A response field.', TOKEN),
      'Response fields that override `Cache-Control` and `Expires` for this cache (RFC 9213). The first field that is present and valid counts. An empty list disables them.',
      { default: [...TARGETED_FIELDS], maxItems: 4 },
    ),
    heuristic: optionalFlag(
      false,
      'Takes a response with `Last-Modified` and nothing about freshness as fresh for a tenth of the time since then, a day at most (RFC 9111, 4.2.2).',
    ),
    staleWhileRevalidate: optionalDuration(
      'How long a stale response is still served while the gateway asks for a new one; for responses that do not say it themselves (RFC 5861).',
      '0s',
    ),
    staleIfError: optionalDuration(
      'How long a stale response is served when the upstream fails or answers 500, 502, 503 or 504; for responses that do not say it themselves (RFC 5861).',
      '0s',
    ),
    requestDirectives: optionalOneOf(
      ['honor', 'ignore'],
      'What `Cache-Control` of requests means. With `ignore` clients cannot make the gateway ask the upstream. The default with `forced` is `ignore`.',
      'honor',
    ),
    key: optionalClosed('What responses are kept apart by, beside path, scheme, route and consumer.', {
      host: optionalFlag(true, 'The host with its port.'),
      query: optionalClosed('Query parameters that count; without it the whole query does.', {
        only: optionalList(string('A parameter.', PARAMETER), 'These alone.', { maxItems: 100 }),
        except: optionalList(string('A parameter.', PARAMETER), 'All but these.', { maxItems: 100 }),
      }),
      headers: optionalList(string('A header field.', TOKEN), 'Header fields of the request.', {
        maxItems: 20,
      }),
      cookies: optionalList(
        string('A cookie.', TOKEN),
        'Cookies that are part of the key. Requests with any other cookie bypass the cache.',
        { maxItems: 20 },
      ),
    }),
    shared: optionalFlag(
      false,
      'Consumers share responses. By default each consumer has responses of its own.',
    ),
    allow: optionalClosed('What is not kept unless it is allowed here.', {
      authorization: optionalFlag(
        false,
        'Responses to requests with `Authorization`, an API key or another credential, where the upstream says `public`, `s-maxage` or `must-revalidate` (RFC 9111, 3.5). With `forced` they are kept for the same credentials alone, unless `shared` is true.',
      ),
      cookies: optionalFlag(
        false,
        'Responses to requests with cookies that `key.cookies` does not name. All clients share them, regardless of these cookies. Use it only if the upstream marks private responses with `Vary` or `Cache-Control`.',
      ),
      setCookie: optionalFlag(false, 'Responses with `Set-Cookie`; all clients get the same cookie.'),
    }),
    maxObject: optionalSize('The largest response body that is kept.', '1mb'),
    maxBytes: optionalSize(
      'What a worker keeps, with all that belongs to it; responses that were used least recently make room. Uses with the same `maxBytes` share one store.',
      '64mb',
    ),
    scope: optionalOneOf(
      ['worker', 'gateway', 'cluster'],
      'Whom responses are shared with: nobody, the other workers, or the replicas that have the same `state`. Each worker keeps its own; one that has none takes what another has got before it asks the upstream. A purge reaches all of them within two seconds.',
      'worker',
    ),
    coalesce: optionalClosed(
      'Requests for the same that come while one is on its way to the upstream wait for its response.',
      {
        max: optionalInteger('Most that wait for one; 0: nobody waits.', {
          default: 1000,
          minimum: 0,
          maximum: 100_000,
        }),
        wait: optionalDuration(
          'Longest wait, 25s at most; then a request goes to the upstream by itself.',
          '5s',
        ),
      },
    ),
    cacheStatus: optionalFlag(true, 'Says in `Cache-Status` how a request was served (RFC 9211).'),
  },
  [
    'Keeps responses of the upstream and answers with them. Without `forced` it is a shared cache as RFC 9111 describes it: what may be kept, for how long and for whom the upstream says in `Cache-Control`, `Expires` and `Vary`; stale responses are validated with `ETag` and `Last-Modified`. HEAD is answered from responses to GET, and a request for one range from a whole response.',
    'List it behind everything that decides who gets in. What is listed behind it works on what is kept; what is listed before it works on what clients get, and is not kept. A response that a policy behind it has named a consumer for is never kept.',
    'Unless `allow` permits it, responses with `Set-Cookie` and responses to requests with a body, a credential or cookies are not stored. Never stored: `Vary: *`, a status that applies to one request only (206, 304, 416, 429 …), bodies larger than `maxObject`, truncated bodies, bodies whose client left, and bodies that end with the connection. A request field is always part of the key if it names the caller (`X-User`, `X-Tenant`, `X-Auth-Request-Email` …) or another host, path or method (`X-Forwarded-Host`, `X-Original-URL`, `X-HTTP-Method-Override` …).',
    'A successful unsafe request (POST, PUT, DELETE …) through a route with this policy makes the worker that served it forget what it keeps of the same URI, and of those that `Location` and `Content-Location` name (RFC 9111, 4.4).',
    'Operators forget responses by `gw cache purge`: by key (`api.example.com/orders?page=2`), by a tag that the upstream sent in `Surrogate-Key`, by the beginning of a key, or all. `Surrogate-Key` does not reach clients.',
  ],
)

/** The configuration of `response-cache`, derived from its schema. */
export type ResponseCacheConfig = Static<typeof responseCacheSchema>
