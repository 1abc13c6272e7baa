import { type Static, Type } from '@sinclair/typebox'
import { duration, integer, mapOf, object, oneOf } from '../schema/build.js'

/** Limits of a case file. They limit the effect of a typo in a number. */
const MAX_ITEMS = 10_000
const ANY_DURATION = ['0s', '3650d'] as const
const ANY_NAME = Type.String({ minLength: 1, maxLength: 4096 })

/** Creates the schema of a map with arbitrary keys. */
function named<S extends ReturnType<typeof Type.Unsafe>>(value: S, description: string) {
  return Type.Optional(mapOf(value, { description, propertyNames: ANY_NAME, maxProperties: 1000 }))
}

const scalar = Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] })
const anything = (description: string) => Type.Optional(Type.Unknown({ description }))

const body = {
  body: Type.Optional(Type.String({ description: 'Body as text.' })),
  json: anything('Body as JSON.'),
}

const headers = named(
  Type.Unsafe<string | number | readonly string[]>({
    anyOf: [{ type: ['string', 'number'] }, { type: 'array', items: { type: 'string' } }],
  }),
  'Header fields; a list for a field with several lines.',
)

const instant = Type.Optional(
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)$',
    expects: 'a time such as 2026-01-01T00:00:00Z',
    description: 'Start of the fake clock; default: now.',
  }),
)

const fakeResponse = object(
  {
    status: Type.Optional(integer(200, 599, { description: 'Status; default 200.' })),
    headers,
    ...body,
    delay: Type.Optional(
      duration(...ANY_DURATION, {
        description: 'Delay of the response on the fake clock. It takes no real time.',
      }),
    ),
    fail: Type.Optional(
      oneOf(['refused', 'reset'], {
        description: 'Fails in place of a response: no connection, or a reset.',
      }),
    ),
  },
  { description: 'Response of a fake server.', choice: { keys: ['body', 'json'], min: 0, max: 1 } },
)

const responses = Type.Unsafe<Static<typeof fakeResponse> | readonly Static<typeof fakeResponse>[]>({
  anyOf: [fakeResponse, { type: 'array', items: fakeResponse, minItems: 1, maxItems: MAX_ITEMS }],
  description: 'A response, or a list of responses in their order. The last one repeats.',
})

const servers = {
  upstreams: named(responses, 'Responses of fake upstreams by name; `*` for all others. Default: 200.'),
  calls: named(
    responses,
    'Responses to calls of policies by `URL` or `METHOD URL`, which may be a `/regex/`. Other calls fail the case.',
  ),
}

const consumer = Type.Unsafe<
  | string
  | {
      readonly id: string
      readonly name?: string
      readonly groups?: readonly string[]
      readonly roles?: readonly string[]
      readonly scopes?: readonly string[]
      readonly metadata?: Readonly<Record<string, string>>
    }
>({
  type: ['string', 'object'],
  description:
    'Consumer that authentication policies accept without credentials: an id that a policy of the route knows, or `{ id, groups, roles, scopes, metadata }`.',
})

const requestObject = object(
  {
    method: Type.Optional(
      Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", description: 'Method; default GET.' }),
    ),
    path: Type.String({
      pattern: '^(/|https?://)\\S*$',
      expects: 'a path such as /orders/7?page=2, or a URL such as http://api.example.com/orders/7',
      description: 'Path and query. A URL also selects the host, and the listener by its port.',
    }),
    headers,
    ...body,
    form: named(scalar, 'Body as form fields.'),
    clientIp: Type.Optional(Type.String({ description: 'Address of the client; default 192.0.2.1.' })),
    clientCertificate: Type.Optional(
      Type.String({ description: 'PEM file with the verified certificate of the client.' }),
    ),
    consumer: Type.Optional(consumer),
  },
  { choice: { keys: ['body', 'json', 'form'], min: 0, max: 1 } },
)

const request = Type.Unsafe<string | Static<typeof requestObject>>({
  anyOf: [
    {
      type: 'string',
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (/|https?://)\\S*$",
      expects: 'a request such as GET /orders/7',
    },
    requestObject,
  ],
  description: '`METHOD PATH`, or the parts of the request.',
})

const message = {
  headers: named(scalar, 'Header fields: a value, `/regex/`, or `absent`.'),
  body: Type.Optional(Type.String({ description: 'Body as text, or `/regex/`.' })),
  json: anything('Body as JSON. Objects are compared partially, lists completely.'),
}

const seenRequest = object(
  {
    name: Type.Optional(Type.String({ description: 'Name of the upstream.' })),
    method: Type.Optional(Type.String()),
    url: Type.Optional(Type.String({ description: 'URL, for calls of policies.' })),
    path: Type.Optional(Type.String({ description: 'Path and query.' })),
    ...message,
  },
  { description: 'A request as it arrived.' },
)

function seenRequests(description: string) {
  return Type.Optional(
    Type.Unsafe<'none' | Static<typeof seenRequest> | readonly Static<typeof seenRequest>[]>({
      anyOf: [{ const: 'none' }, seenRequest, { type: 'array', items: seenRequest, maxItems: MAX_ITEMS }],
      description,
    }),
  )
}

/** Verdicts of a policy. */
const VERDICTS = ['passed', 'refused', 'answered', 'skipped', 'failed', 'absent'] as const

const expected = object(
  {
    route: Type.Optional(Type.String({ description: 'Id of the route, or `none`.' })),
    policies: named(
      oneOf(VERDICTS, {
        description:
          '`passed`, `refused`, `answered` (a response below 400), `skipped` (its condition is false), `failed`, or `absent` (it did not run).',
      }),
      'Verdict of policies by id, or by name in the catalog.',
    ),
    upstream: seenRequests('Last request to an upstream, a list of all of them, or `none`.'),
    calls: seenRequests('Last call of a policy, a list of all of them, or `none`.'),
    response: Type.Optional(
      Type.Unsafe<number | string | ({ status?: number | string; code?: string } & Record<string, unknown>)>({
        anyOf: [
          { type: 'integer', minimum: 100, maximum: 599 },
          { type: 'string', pattern: '^/.*/$', expects: 'a status such as 200, or a pattern such as /2../' },
          object({
            status: Type.Optional(Type.Unsafe<number | string>({ type: ['integer', 'string'] })),
            code: Type.Optional(Type.String({ description: 'Error code, such as `GW_AUTH_MISSING`.' })),
            ...message,
          }),
        ],
        description: 'Status, or parts of the response.',
      }),
    ),
    record: named(
      Type.Unknown(),
      'Fields of the traffic log record; nested, or with dots as in `error.code`.',
    ),
    snapshot: Type.Optional(
      Type.Boolean({ description: 'True to compare the response with the one in a snapshot file.' }),
    ),
  },
  { description: 'Expected results. Absent keys are not checked.' },
)

const step = {
  request: Type.Optional(request),
  advance: Type.Optional(
    duration(...ANY_DURATION, { description: 'Time by which the fake clock moves before the request.' }),
  ),
  repeat: Type.Optional(integer(1, MAX_ITEMS, { description: 'Number of identical requests; default 1.' })),
  expect: Type.Optional(expected),
}

const stepObject = object(
  {
    name: Type.Optional(Type.String()),
    ...step,
    request,
    ...servers,
  },
  { description: 'A request of a case with several requests.' },
)

const caseObject = object(
  {
    name: Type.String({ minLength: 1, maxLength: 256, description: 'Name, unique in its file.' }),
    skip: Type.Optional(Type.Boolean({ description: 'True to skip the case.' })),
    only: Type.Optional(Type.Boolean({ description: 'True to run no other cases than those with `only`.' })),
    at: instant,
    ...servers,
    ...step,
    steps: Type.Optional(
      Type.Array(stepObject, {
        minItems: 1,
        maxItems: MAX_ITEMS,
        description: 'Several requests with common state, such as limits and caches.',
      }),
    ),
  },
  { choice: { keys: ['request', 'steps'], min: 1, max: 1 } },
)

/** Schema of a file with test cases. */
export const caseFileSchema = object(
  {
    defaults: Type.Optional(
      object({ at: instant, headers, ...servers }, { description: 'Values for cases that do not set them.' }),
    ),
    cases: Type.Array(caseObject, { minItems: 1, maxItems: 100_000 }),
  },
  { description: 'Test cases of a gateway document, for `gw test`.' },
)

/** A file with test cases. */
export type CaseFile = Static<typeof caseFileSchema>
/** A test case as written. */
export type WrittenCase = CaseFile['cases'][number]
/** A request of a case as written. */
export type WrittenStep = Static<typeof stepObject>
/** Response of a fake server as written. */
export type WrittenResponse = Static<typeof fakeResponse>
/** Responses of fake servers by name or URL. */
export type WrittenResponses = Readonly<Record<string, Static<typeof responses>>>
/** Request of a case as written. */
export type WrittenRequest = Static<typeof requestObject>
/** Expected results of a request. */
export type Expected = Static<typeof expected>
/** An expected request to an upstream, or call of a policy. */
export type ExpectedRequest = Static<typeof seenRequest>
/** Expected verdict of a policy. */
export type Verdict = (typeof VERDICTS)[number]

/** Returns the JSON Schema (draft-07) of case files for editors. */
export function caseEditorSchema(): object {
  const schema: object = JSON.parse(
    JSON.stringify(caseFileSchema, (key, value) => (OWN.has(key) ? undefined : value)),
  )
  return { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Sluice test cases', ...schema }
}

/** Keywords that other validators do not know. */
const OWN: ReadonlySet<string> = new Set(['bounds', 'choice', 'expects', 'remedy'])
