import { type Static, Type } from '@sinclair/typebox'
import { callTls } from '../../shared/call-tls.js'
import {
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

export const DEFAULT_REQUEST_HEADERS: readonly string[] = ['authorization', 'cookie']
export const DEFAULT_DENY_HEADERS: readonly string[] = [
  'content-type',
  'location',
  'set-cookie',
  'www-authenticate',
  'retry-after',
]
export const DEFAULT_TIMEOUT = '1s'
export const DEFAULT_ANSWER_BYTES = '64kb'
export const DEFAULT_TTL = '30s'
export const DEFAULT_NEGATIVE_TTL = '5s'
export const DEFAULT_STALE = '0ms'
export const DEFAULT_ENTRIES = 10_000

const header = string('A header.', { minLength: 1, maxLength: 256 })

const headers = (description: string, fallback: readonly string[]) =>
  optionalList(header, description, { default: [...fallback], maxItems: 64, uniqueItems: true })

const consumer = optionalClosed(
  'Who is calling, by fields of the answer that lets a request pass. What the client sent under these names is removed too.',
  {
    id: string('The field with the id. An answer without it is a failure.', { minLength: 1, maxLength: 256 }),
    name: optionalText(256, 'The field with the name; default: the id.'),
    groups: optionalText(256, 'The field with the groups, separated by commas.'),
    roles: optionalText(256, 'The field with the roles, separated by commas.'),
    scopes: optionalText(256, 'The field with the scopes, separated by spaces.'),
  },
)

const cache = optionalClosed('Decisions are kept. Absent: each request asks.', {
  scope: optionalOneOf(
    ['worker', 'gateway'],
    'Who keeps decisions: each worker for itself, or all workers together, so that one of them asks.',
    'gateway',
  ),
  key: optionalList(
    string('An expression.', { minLength: 1, maxLength: 4096 }),
    'What a decision depends on, such as `req.header["authorization"]` and `req.method`: requests that are the same in all of it get the same decision. Default: all that the server is sent; none with `withBody`. What an expression does not find counts as an input too.',
    { minItems: 1, maxItems: 16 },
  ),
  ttl: optionalDuration(
    'How long requests are let pass, at most 1h; less where `cache-control` says so.',
    DEFAULT_TTL,
  ),
  negativeTtl: optionalDuration(
    'How long a refusal with 401 or 403 is kept, at most 1h.',
    DEFAULT_NEGATIVE_TTL,
  ),
  staleIfError: optionalDuration(
    'How long after that a decision still counts while the server does not answer, at most 24h.',
    DEFAULT_STALE,
  ),
  maxEntries: optionalInteger('Decisions of a worker, 16 MB at most.', {
    default: DEFAULT_ENTRIES,
    minimum: 1,
    maximum: 1_000_000,
  }),
})

/** The configuration of `forward-auth`. */
export const forwardAuthSchema = policyOptions(
  {
    url: string('The address of the server that decides, with its path and query.', {
      minLength: 1,
      maxLength: 2048,
      destination: true,
    }),
    method: optionalOneOf(['GET', 'HEAD', 'POST'], 'The method of the call.', 'GET'),
    requestHeaders: headers(
      'Fields of the client that the server is sent, all lines of each.',
      DEFAULT_REQUEST_HEADERS,
    ),
    addHeaders: optionalRecord(
      Type.String({ maxLength: 4096 }),
      'More fields for the server, with {{placeholders}}, as in `header`; empty ones are left out.',
      { maxProperties: 32 },
    ),
    withBody: optionalFlag(false, 'Sends the body too. It is collected for that; `method` is POST then.'),
    upstreamHeaders: headers(
      'Fields of an answer that lets a request pass, for the upstream. What the client sent under these names is always removed, also with underscores for hyphens.',
      [],
    ),
    clientHeaders: headers(
      'Fields of an answer that lets a request pass, for the client: `set-cookie` of a session that was renewed.',
      [],
    ),
    denyHeaders: headers('Fields of an answer that refuses, for the client.', DEFAULT_DENY_HEADERS),
    consumer,
    timeout: optionalDuration('Longest wait for the server, 1ms to 20s.', DEFAULT_TIMEOUT),
    maxAnswerBytes: optionalSize(
      'Largest answer of the server; a larger one is a failure.',
      DEFAULT_ANSWER_BYTES,
    ),
    onFailure: optionalOneOf(
      ['deny', 'allow'],
      'While the server does not answer, or answers with an error of its own (5xx) or nothing that decides: 503 `GW_AUTH_UNAVAILABLE`, or the request goes on without its fields, with `vars["forward-auth"]` set to `unavailable`.',
      'deny',
    ),
    cache,
    tls: callTls,
  },
  [
    'Asks a server of yours about each request, as `forwardAuth` of Traefik, `auth_request` of nginx and the HTTP service of `ext_authz` of Envoy do. It is told of the request by `x-forwarded-method`, `x-forwarded-proto`, `x-forwarded-host`, `x-forwarded-uri` and `x-forwarded-for`, which clients cannot forge.',
    'An answer with 2xx lets the request pass. One with 3xx or 4xx is passed to the client: its status, its body, and the fields of `denyHeaders`. Everything else is a failure: no answer in time, 5xx, an answer that is too large or no HTTP. Redirects are passed on, never followed.',
    'Requests that ask the same at one time wait for one call, also without `cache`. Decisions with `set-cookie`, redirects, and those whose `cache-control` says `no-store`, `no-cache` or `private` are never kept, nor shared. Refusals have room of their own, so that nobody can push out what is known of others. Keys are digests: no credential is kept. A call carries `x-sluice-hops`; one that comes back to the gateway more than 5 times is refused with 508 `GW_CALL_LOOP`.',
  ],
)

/** The configuration of `forward-auth`, derived from its schema. */
export type ForwardAuthConfig = Static<typeof forwardAuthSchema>
