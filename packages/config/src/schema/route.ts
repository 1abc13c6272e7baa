import { Type } from '@sinclair/typebox'
import { duration, integer, mapOf, name, object, oneOf, size, text } from './build.js'
import { routeLogSchema } from './capture.js'
import { MAX_CHAIN, policyEntrySchema } from './policy.js'
import { routeTimeoutsSchema } from './upstream.js'

const predicate = Type.Union([
  Type.String({ maxLength: 8192, description: 'The exact value.' }),
  object(
    {
      exact: Type.Optional(Type.String({ maxLength: 8192, description: 'The exact value.' })),
      prefix: Type.Optional(
        Type.String({ minLength: 1, maxLength: 8192, description: 'How the value begins.' }),
      ),
      regex: Type.Optional(
        text('regex', { description: 'A regular expression (RE2) that the value matches somewhere.' }),
      ),
      present: Type.Optional(Type.Boolean({ description: 'true: there is one, false: there is none.' })),
    },
    {
      choice: { keys: ['exact', 'prefix', 'regex', 'present'], min: 1, max: 1 },
      description: 'A test of the value.',
    },
  ),
])

const match = object(
  {
    hosts: Type.Array(text('host-pattern'), {
      default: [],
      maxItems: 1000,
      description: '`api.example.com`, or `*.example.org` for everything below. Empty: every host.',
    }),
    path: Type.Optional(
      text('path-pattern', {
        description:
          '`/a/b` exact, `/a/{id}` one segment, `/a/*` this and everything below, `~regex` (RE2). Absent: every path.',
      }),
    ),
    methods: Type.Array(text('method'), {
      default: [],
      maxItems: 50,
      description: 'Empty: every method. HEAD follows GET.',
    }),
    headers: mapOf(predicate, {
      default: {},
      maxProperties: 50,
      propertyNames: text('predicate-name'),
      description: 'All must hold. A text is the exact value.',
    }),
    query: mapOf(predicate, {
      default: {},
      maxProperties: 50,
      propertyNames: Type.String({ minLength: 1, maxLength: 256 }),
      description: 'All must hold. A text is the exact value.',
    }),
    when: Type.Optional(text('route-condition', { description: 'A condition (CEL) that must hold too.' })),
  },
  { default: {}, description: 'Which requests the route takes. Empty: all.' },
)

const rewrite = object(
  {
    prefix: Type.Optional(
      text('path', { description: 'Takes the place of what the prefix of the route matched.' }),
    ),
    path: Type.Optional(
      text('path-template', { description: 'The whole path; `{name}` is a segment of the route.' }),
    ),
    regex: Type.Optional(
      object(
        {
          pattern: text('regex', {
            description:
              'Regular expression (RE2), matched against the forwarded form of the path first, then against its canonical form.',
          }),
          replacement: Type.String({
            maxLength: 4096,
            description: 'What to put there; `$1` is the first group.',
          }),
        },
        { description: 'Replaces the first match.' },
      ),
    ),
    host: text('host-rewrite', {
      default: 'keep',
      description: "The Host towards the target: `keep` the client's, `upstream` the target's, or a value.",
    }),
  },
  {
    choice: { keys: ['prefix', 'path', 'regex'], min: 0, max: 1 },
    description: 'What the upstream gets to see.',
  },
)

const respond = object(
  {
    status: integer(200, 599, { default: 200, description: 'The status.' }),
    headers: mapOf(text('field-value'), {
      default: {},
      maxProperties: 100,
      propertyNames: text('reply-field-name'),
      description: 'Header fields.',
    }),
    body: Type.Union(
      [
        Type.String({ maxLength: 1_048_576, description: 'Sent as it is.' }),
        Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'Sent as JSON.' }),
        Type.Array(Type.Unknown(), { description: 'Sent as JSON.' }),
      ],
      { default: '', description: 'The body: a text, or a mapping or list that is sent as JSON.' },
    ),
  },
  { description: 'An answer of the gateway itself.' },
)

const redirectTargets = ['scheme', 'host', 'port', 'path', 'prefix']

const redirect = object(
  {
    status: Type.Unsafe<301 | 302 | 303 | 307 | 308>({
      type: 'integer',
      enum: [301, 302, 303, 307, 308],
      default: 302,
      description: 'The status.',
    }),
    scheme: Type.Optional(oneOf(['http', 'https'], { description: 'Another scheme.' })),
    host: Type.Optional(text('host', { description: 'Another host.' })),
    port: Type.Optional(integer(1, 65_535, { description: 'Another port.' })),
    path: Type.Optional(
      text('path-template', { description: 'The whole path; `{name}` is a segment of the route.' }),
    ),
    prefix: Type.Optional(
      text('path', { description: 'Takes the place of what the prefix of the route matched.' }),
    ),
    keepQuery: Type.Boolean({ default: true, description: 'Keeps the query.' }),
  },
  {
    choice: { keys: redirectTargets, min: 1, max: redirectTargets.length },
    description: 'Sends the client elsewhere.',
  },
)

const websocket = object(
  {
    idleTimeout: duration(
      { min: '50ms', max: '24h' },
      {
        default: '60s',
        description: 'Longest time in which neither side sends anything; then close code 1001.',
      },
    ),
    maxMessage: size(
      { min: '1b', max: '1gb' },
      {
        default: '1mb',
        description:
          'Largest message, as it is on the wire; a larger one ends the connection with 1009. `engine: uws`: 1 MB at most.',
      },
    ),
    rate: Type.Optional(
      integer(1, 1_000_000, {
        description:
          'Messages and control frames a second that a client may send; more end the connection with 1008. Absent: any number.',
      }),
    ),
    compression: oneOf(['refuse', 'pass'], {
      default: 'refuse',
      description:
        '`pass` lets client and target agree on permessage-deflate (RFC 7692), which `engine: uws` cannot; `refuse` keeps the offer from the target.',
    }),
  },
  { description: 'WebSockets are let through to the upstream. Absent: a handshake is answered with 501.' },
)

/** Which requests, and what becomes of them. */
export const routeSchema = object(
  {
    id: name('The name of the route in logs and metrics.'),
    api: Type.Optional(name('The API of `apis` that it is a part of.')),
    match,
    priority: integer(-1_000_000, 1_000_000, {
      default: 0,
      description: 'A higher one wins over every other rule of precedence.',
    }),
    criticality: oneOf(['low', 'normal', 'critical'], {
      default: 'normal',
      description:
        'Which requests an overloaded worker refuses first (see `overload`): `low` ones, then `normal` ones; `critical` ones only when far too many are in flight.',
    }),
    encodedSlashes: oneOf(['refuse', 'keep'], {
      default: 'refuse',
      description:
        '`refuse` answers a path with `%2F` or `%5C` with 400; `keep` forwards it, for a target that does not decode them before it looks for the resource ([paths](../guides/paths.md)).',
    }),
    rewrite: Type.Optional(rewrite),
    upstream: Type.Optional(name('The upstream that answers.')),
    respond: Type.Optional(respond),
    redirect: Type.Optional(redirect),
    timeouts: Type.Optional(routeTimeoutsSchema),
    websocket: Type.Optional(websocket),
    log: Type.Optional(routeLogSchema),
    policies: Type.Array(policyEntrySchema, {
      default: [],
      maxItems: MAX_CHAIN,
      description:
        'The chain, in order: ids of shared policies, names of `policyGroups`, or policies written out; 100 together.',
    }),
  },
  {
    choice: { keys: ['upstream', 'respond', 'redirect'], min: 1, max: 1 },
    description: 'Which requests, and what becomes of them.',
  },
)
