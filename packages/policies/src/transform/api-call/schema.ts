import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { callTls } from '../../shared/call/call-tls.js'
import { LOCATION_FORMS } from '../../shared/field-location/location.js'
import * as field from '../../shared/options/options.js'

const expression = field.text(4096, 'An expression.')

const body = Type.Union(
  [
    field.string('Sent unchanged.', { maxLength: 1_048_576 }),
    Type.Record(Type.String(), Type.Unknown(), { description: 'Sent as JSON.' }),
    Type.Array(Type.Unknown(), { description: 'Sent as JSON.' }),
  ],
  { description: 'Body: text, or an object or list that is sent as JSON. May contain {{placeholders}}.' },
)

const save = field.closed('Copies a value from the response.', {
  from: field.text(
    2048,
    'Source: `status`, `body`, `header.NAME`, or a JSON path into the body such as `$.customer.tier`. A value that contains an integer beyond 2^53 would lose digits and counts as missing; `body` keeps it.',
  ),
  to: field.text(
    2048,
    `Target in the message of the current phase: ${LOCATION_FORMS}. A value for \`json.PATH\` stays JSON.`,
  ),
  default: field.optionalText(
    8192,
    'Value to use if the response does not contain the value, or if there is no response.',
  ),
  required: field.optionalFlag(false, 'Treats a response without the value as unexpected.'),
})

const cache = field.optionalClosed('Caches responses. Without it every request makes the call.', {
  scope: field.optionalOneOf(
    ['worker', 'gateway', 'cluster'],
    'Cache scope: this worker only, all workers of the gateway, or all replicas that use the same `state`. With `gateway` and `cluster`, one worker makes the call for all.',
    'worker',
  ),
  key: field.optionalList(
    expression,
    'Expressions that form the cache key, plus the consumer unless `shared` is true. Default: everything that is sent.',
    { minItems: 1, maxItems: 16 },
  ),
  shared: field.optionalFlag(false, 'Shares cached responses between consumers. Needs `key`.'),
  ttl: field.optionalDuration(
    'Time a response stays fresh, at most 24h. A shorter `cache-control` of the response takes precedence.',
    '1m',
  ),
  revalidate: field.optionalDuration(
    'Time after `ttl` in which the expired response is used while a new one is fetched in the background.',
    '0ms',
  ),
  staleIfError: field.optionalDuration(
    'Time after `ttl` in which the expired response is used if the call fails.',
    '0ms',
  ),
  maxEntries: field.optionalInteger(
    'Maximum number of responses per worker, which together take at most 16 MB. A response over 1 MB is not shared with other workers.',
    { default: 1000, minimum: 1, maximum: 1_000_000 },
  ),
})

const respond = field.optionalClosed('Response to the client. Needs `onError: respond`.', {
  status: field.optionalInteger('Status code.', { minimum: 200, maximum: 599, default: 502 }),
  headers: field.optionalRecord(
    field.string('A header value. May contain {{placeholders}}.', { maxLength: 8192 }),
    'Header fields.',
    { maxProperties: 100 },
  ),
  body: Type.Optional(body),
})

const call = field.closed(
  'One call.',
  {
    name: field.string('Name of the call in the traffic log and in `vars["api-call.NAME"]`.', {
      pattern: '^[A-Za-z0-9_-]{1,64}$',
    }),
    url: field.text(
      4096,
      'URL. The path and the query may contain {{placeholders}}, whose values are percent-encoded. A value in the path must not be empty.',
      { destination: true },
    ),
    origins: field.optionalList(
      field.text(512, '`https://host` or `http://host:port`.', { destination: true }),
      'Servers that `url` may lead to. Required if its host contains a placeholder.',
      { minItems: 1, maxItems: 64, uniqueItems: true },
    ),
    method: field.optionalOneOf(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], 'Request method.', 'GET'),
    headers: field.optionalRecord(
      field.string('A value. May contain {{placeholders}}.', { secret: true, maxLength: 8192 }),
      'Header fields. Fields of the client are not forwarded unless listed here. A field with an invalid value is omitted.',
      { maxProperties: 64 },
    ),
    body: Type.Optional(body),
    forwardBody: field.optionalFlag(false, 'Sends the body of the current message, with its content type.'),
    timeout: field.optionalDuration('Maximum time to wait for the response, 1ms to 20s.', '2s'),
    maxResponseBytes: field.optionalSize(
      'Maximum size of the response body. A larger one is a failure.',
      '256kb',
    ),
    allowAddresses: field.optionalList(
      field.text(64, 'An address, a range such as `10.0.0.0/8`, or `private`.'),
      'Non-public addresses that the call may connect to. An address written in `url` is always allowed.',
      { maxItems: 64 },
    ),
    expect: field.section(
      'Conditions that a response must meet. Any other response is an error.',
      {
        statuses: field.optionalList(
          field.string('A status such as `404`, or a class such as `2xx`.', {
            pattern: '^[1-5](\\d\\d|xx)$',
          }),
          'Accepted status codes.',
          { default: ['2xx'], minItems: 1, maxItems: 32 },
        ),
        when: field.optionalText(
          4096,
          'Expression that must be true. It is evaluated after `save`: `vars["stock"] != "0"`.',
        ),
      },
      { deprecatedKeys: { status: 'statuses' } },
    ),
    save: field.optionalList(save, 'Values to copy from the response, in this order.', { maxItems: 64 }),
    onError: field.optionalOneOf(
      ['fail', 'continue', 'respond'],
      'Reaction to a failed call or an unexpected response: `fail` responds with 502 `GW_CALL_FAILED` or 504 `GW_CALL_TIMEOUT`, `continue` lets the request continue, `respond` sends the configured response.',
      'fail',
    ),
    respond,
    cache,
    coalesce: Type.Optional(
      Type.Boolean({
        description:
          'Makes one call for concurrent requests that would make the same call. Default: true for GET and HEAD, and with `cache`.',
      }),
    ),
    oneWay: field.optionalFlag(false, 'Does not wait for the response, and only counts it.'),
    tls: callTls,
  },
  { deprecatedKeys: { maxAnswerBytes: 'maxResponseBytes' } },
)

/** Schema of the configuration of `api-call`. */
export const apiCallSchema = field.policyOptions(
  {
    phase: field.optionalOneOf(
      ['request', 'response'],
      'Time of the calls: before the request is sent upstream, or when the response head has arrived.',
      'request',
    ),
    inputs: field.optionalRecord(
      expression,
      'Values for {{inputs.NAME}}. Each is an expression such as `req.query["id"]`, `req.body.json("$.id")` or `res.status`.',
      { maxProperties: 32 },
    ),
    calls: field.list(call, 'Calls, made in parallel. To make calls in sequence, list the policy twice.', {
      minItems: 1,
      maxItems: 8,
    }),
  },
  [
    'Calls other servers and puts values from their responses into the message: variables, header fields, the query or the body. When all calls have ended, the values are written in the order of the list. `vars["api-call.NAME"]` is `ok`, `unexpected` or the kind of failure. If the response has no value for a place that `save` names, a value that the client sent there is removed. A call that reads or writes the body runs when the body has been received, after the policies that work on the head.',
    'A call may connect to public addresses, to an address written in `url`, and to those in `allowAddresses`. `private` stands for the private networks. Link-local addresses and cloud metadata addresses must be listed explicitly. The address is checked for every connection, which protects against DNS rebinding. Redirects are not followed. A value that would change the path (`..`) makes the call fail with `input`, and nothing is sent.',
    'Concurrent identical calls are coalesced into one. With `cache`, a response with an expected status is cached unless it has `set-cookie`, or `no-store`, `no-cache` or `private` in `cache-control`. `revalidate` works like stale-while-revalidate. The cache survives a reload that does not change the call.',
    'Calls with `oneWay` wait in a queue of at most 1,000 calls and 16 MB per worker. At most 8 per server run concurrently. Calls that do not fit are dropped and counted, and calls still queued when the gateway stops are lost. `gw_api_calls_total` counts all calls, and the traffic log lists them in `api_calls`. Every call carries `x-sluice-hops`. A call that returns to the gateway more than 5 times is refused with 508 `GW_CALL_LOOP`.',
  ],
)

/** Configuration of `api-call`, derived from its schema. */
export type ApiCallConfig = Configured<typeof apiCallSchema>
/** Entry of `calls`. */
export type CallConfig = ApiCallConfig['calls'][number]
