import { type Static, Type } from '@sinclair/typebox'
import { callTls } from '../../shared/call-tls.js'
import { LOCATION_FORMS } from '../../shared/field-location/location.js'
import {
  closed,
  list,
  oneOf,
  optionalClosed,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalRecord,
  optionalSize,
  optionalText,
  policyOptions,
  string,
} from '../../shared/options.js'

export const DEFAULT_TIMEOUT = '2s'
export const DEFAULT_ANSWER_BYTES = '256kb'
export const DEFAULT_STATUSES: readonly string[] = ['2xx']
export const DEFAULT_TTL = '1m'
export const NO_TIME = '0ms'
export const DEFAULT_ENTRIES = 1000
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const expression = string('An expression.', { minLength: 1, maxLength: 4096 })

const body = Type.Union(
  [
    string('Sent as it is.', { maxLength: 1_048_576 }),
    Type.Record(Type.String(), Type.Unknown(), { description: 'Sent as JSON.' }),
    Type.Array(Type.Unknown(), { description: 'Sent as JSON.' }),
  ],
  { description: 'The body: a text, or a mapping or list that is sent as JSON; may hold {{placeholders}}.' },
)

const save = closed('Takes a value out of the answer.', {
  from: string(
    'What: `status`, `body`, `header.NAME`, or a JSON path of the body such as `$.customer.tier`. What has a whole number beyond 2^53 in it, which would lose digits, counts as not there; `body` keeps it.',
    { minLength: 1, maxLength: 2048 },
  ),
  to: string(
    `Where it goes, in the message of the phase: ${LOCATION_FORMS}. A value for \`json.PATH\` stays JSON.`,
    {
      minLength: 1,
      maxLength: 2048,
    },
  ),
  default: optionalText(8192, 'What goes there when the answer has no such value, or there is no answer.'),
  required: optionalFlag(false, 'An answer without the value is not the expected one.'),
})

const cache = optionalClosed('Answers are kept. Absent: each request calls.', {
  scope: optionalOneOf(
    ['worker', 'gateway', 'cluster'],
    'Whom answers are shared with: nobody, the other workers, or the replicas that have the same `state`. But for `worker`, one of them calls for all.',
    'worker',
  ),
  key: optionalList(
    expression,
    'What an answer depends on, and the consumer unless `shared` says otherwise. Default: all that is sent.',
    { minItems: 1, maxItems: 16 },
  ),
  shared: optionalFlag(false, 'With `key`: whether consumers share answers.'),
  ttl: optionalDuration(
    'How long an answer is used, at most 24h; less where its `cache-control` says so.',
    DEFAULT_TTL,
  ),
  revalidate: optionalDuration(
    'How long after that it is still used while a new one is asked for in the background.',
    NO_TIME,
  ),
  staleIfError: optionalDuration('How long after that it is still used when the call fails.', NO_TIME),
  maxEntries: optionalInteger('Answers of a worker, 16 MB at most; one above 1 MB is not shared.', {
    default: DEFAULT_ENTRIES,
    minimum: 1,
    maximum: 1_000_000,
  }),
})

const respond = optionalClosed('With `onError: respond`: the answer to the client.', {
  status: optionalInteger('The status.', { minimum: 200, maximum: 599, default: 502 }),
  headers: optionalRecord(
    string('A header value; may hold {{placeholders}}.', { maxLength: 8192 }),
    'Header fields.',
    { maxProperties: 100 },
  ),
  body: Type.Optional(body),
})

const call = closed('One call.', {
  name: string('Its name, for the traffic log and for `vars["api-call.NAME"]`.', {
    pattern: '^[A-Za-z0-9_-]{1,64}$',
  }),
  url: string(
    'The address. Path and query may hold {{placeholders}}, whose values are percent-encoded; one in the path must not be empty.',
    { minLength: 1, maxLength: 4096, destination: true },
  ),
  origins: optionalList(
    string('`https://host` or `http://host:port`.', { minLength: 1, maxLength: 512, destination: true }),
    'Needed for a placeholder in the host of `url`: the only servers that it may lead to.',
    { minItems: 1, maxItems: 64, uniqueItems: true },
  ),
  method: optionalOneOf(METHODS, 'The method.', 'GET'),
  headers: optionalRecord(
    string('A value; may hold {{placeholders}}.', { secret: true, maxLength: 8192 }),
    'Header fields. Nothing of the client is sent unless it stands here; a field whose value cannot be sent is left out.',
    { maxProperties: 64 },
  ),
  body: Type.Optional(body),
  forwardBody: optionalFlag(false, 'Sends the body of the message of the phase, with its type.'),
  timeout: optionalDuration('Longest wait for the answer, 1ms to 20s.', DEFAULT_TIMEOUT),
  maxAnswerBytes: optionalSize('Largest body of an answer; a larger one is a failure.', DEFAULT_ANSWER_BYTES),
  allowAddresses: optionalList(
    string('An address, a range such as `10.0.0.0/8`, or `private`.', { minLength: 1, maxLength: 64 }),
    'Addresses that are not public and that the call may go to. An address that stands in `url` is among them.',
    { maxItems: 64 },
  ),
  expect: optionalClosed('What an answer has to be; another one is an error.', {
    status: optionalList(
      string('A status, `404`, or a class, `2xx`.', { pattern: '^[1-5](\\d\\d|xx)$' }),
      'Its status: one of these.',
      { default: [...DEFAULT_STATUSES], minItems: 1, maxItems: 32 },
    ),
    when: optionalText(
      4096,
      'An expression that has to be true, read when the values of `save` are in their places: `vars["stock"] != "0"`.',
    ),
  }),
  save: optionalList(save, 'Values that are taken out of the answer, in this order.', { maxItems: 64 }),
  onError: optionalOneOf(
    ['fail', 'continue', 'respond'],
    'When there is no answer, or not the expected one: 502 `GW_CALL_FAILED` or 504 `GW_CALL_TIMEOUT` (`fail`), the request goes on (`continue`), or `respond` is the answer.',
    'fail',
  ),
  respond,
  cache,
  coalesce: Type.Optional(
    Type.Boolean({
      description:
        'Whether requests whose call would be the same at one time make one. Default: for GET and HEAD, and where answers are kept.',
    }),
  ),
  oneWay: optionalFlag(false, 'Nobody waits for the answer; it is only counted.'),
  tls: callTls,
})

/** The configuration of `api-call`. */
export const apiCallSchema = policyOptions(
  {
    phase: Type.Optional(
      oneOf(
        ['request', 'response'],
        'When: before the request goes to the upstream, or when its response is there.',
        'request',
      ),
    ),
    inputs: optionalRecord(
      expression,
      'Values for {{inputs.NAME}}, each an expression such as `req.query["id"]`, `req.body.json("$.id")` or `res.status`.',
      { maxProperties: 32 },
    ),
    calls: list(call, 'The calls, made at the same time. For one after the other list the policy twice.', {
      minItems: 1,
      maxItems: 8,
    }),
  },
  [
    'Calls other servers and puts what they say into the message: variables, header fields, the query, the body. When all calls of the group have ended, their values are put in their places in the order of the list; `vars["api-call.NAME"]` says of each `ok`, `unexpected`, or what failed. What a client has sent in a place that `save` names is removed when the answer has nothing for it. A call that reads or writes the body is made when that is there, after the policies that act on the head.',
    'A call goes to public addresses, to an address that `url` names itself, and to those of `allowAddresses`; `private` stands for the private networks. Link-local addresses and those of the metadata of clouds have to be listed by themselves. The address is looked at for each connection, so that a name cannot point elsewhere later. Redirects are not followed. A value that would change the path (`..`) makes the call fail with `input`, and nothing is sent.',
    'Requests whose call is the same at one time wait for one. With `cache` an answer of an expected status is kept, unless it has `set-cookie` or its `cache-control` says `no-store`, `no-cache` or `private`; `revalidate` is stale-while-revalidate. Answers survive reloads that leave the call as it is.',
    'A call with `oneWay` waits in a queue of 1,000 calls and 16 MB a worker, 8 are under way at once; what does not fit is dropped and counted, and what has not been sent when the gateway ends is lost. `gw_api_calls_total` counts all calls, the traffic log lists them in `api_calls`. Each carries `x-sluice-hops`; one that comes back to the gateway more than 5 times is refused with 508 `GW_CALL_LOOP`.',
  ],
)

/** The configuration of `api-call`, derived from its schema. */
export type ApiCallConfig = Static<typeof apiCallSchema>
/** One of its calls. */
export type CallConfig = ApiCallConfig['calls'][number]
