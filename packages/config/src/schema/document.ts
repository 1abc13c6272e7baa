import { type Static, Type } from '@sinclair/typebox'
import { apiSchema, environmentSchema } from './api.js'
import { duration, integer, mapOf, name, object, text } from './build.js'
import { cacheSchema } from './cache.js'
import { kubernetesSchema } from './kubernetes.js'
import { adminSchema, listenerSchema } from './listener.js'
import { logSchema } from './log.js'
import { policyGroupSchema, sharedPolicySchema } from './policy.js'
import { routeSchema } from './route.js'
import { stateSchema } from './state.js'
import { upstreamSchema } from './upstream.js'

const metrics = object(
  {
    enabled: Type.Boolean({
      default: true,
      description: 'Prometheus text at /metrics on the admin address.',
    }),
    address: Type.Optional(
      text('address', {
        description:
          'A further address, `host:port`, that answers /metrics, /healthz and /readyz and nothing else, without TLS and tokens: for Prometheus and the probes of a cluster. Whoever reaches it can read names of routes and targets. Absent: the admin address alone.',
      }),
    ),
  },
  { default: {}, description: 'Metrics.' },
)

const drain = object(
  {
    delay: duration(
      { min: '0s', max: '10m' },
      { default: '0s', description: 'Time between readiness 503 and the listeners closing.' },
    ),
    timeout: duration(
      { min: '0s', max: '1h' },
      {
        default: '30s',
        description: 'Longest wait for requests in flight; then they are cut, and the exit code is 1.',
      },
    ),
  },
  { default: {}, description: 'How the gateway stops.' },
)

const overload = object(
  {
    maxLoopDelay: duration(
      { min: '0s', max: '10s' },
      {
        default: '100ms',
        description:
          'Delay of a worker’s event loop from which on, when it lasts, it refuses with 503 what it does not reach in time, routes with `criticality: low` first. 0s: never.',
      },
    ),
    maxInFlight: Type.Optional(
      integer(1, 1_000_000, {
        description:
          'Requests in flight, per worker, above which more are refused with 503: `low` ones from 80 % of it, `critical` ones from 120 %. Absent: no limit.',
      }),
    ),
    retryAfter: duration(
      { min: '1s', max: '1h' },
      { default: '1s', description: 'Retry-After of such a 503.' },
    ),
  },
  { default: {}, description: 'What a worker refuses when it has more to do than it can.' },
)

/**
 * The document: every key, its type, range, default and description. Beside the keywords of JSON Schema it uses
 * `grammar`, `bounds`, `choice` (see check/keywords), `expects` (a noun phrase for messages),
 * `remedy` (what to write in place of a value of another kind), `secret` (never shown),
 * `path` (a relative one begins in the folder of the document; schemas of policies mark theirs too) and `keepsReference` (the plan copies the text and keeps its references, whatever the schema says about them).
 */
export const documentSchema = object(
  {
    version: Type.Literal(1, { description: 'The version of this format.' }),
    environment: Type.Optional(environmentSchema),
    listeners: Type.Array(listenerSchema, {
      default: [{ address: '127.0.0.1:8080' }],
      minItems: 1,
      maxItems: 64,
      description: 'Where clients connect.',
    }),
    admin: adminSchema,
    workers: Type.Optional(
      integer(1, 64, { description: 'Worker processes. Absent: from the tier, else from the CPU quota.' }),
    ),
    upstreams: mapOf(upstreamSchema, {
      default: {},
      maxProperties: 10_000,
      propertyNames: name('The name of an upstream.'),
      description: 'The servers behind the gateway, by name.',
    }),
    policies: Type.Array(sharedPolicySchema, {
      default: [],
      maxItems: 10_000,
      description: 'Policies that several routes share.',
    }),
    policyGroups: mapOf(policyGroupSchema, {
      default: {},
      maxProperties: 10_000,
      propertyNames: name('What routes call it.'),
      description: 'Policies that routes use together, by the name of the group.',
    }),
    apis: mapOf(apiSchema, {
      default: {},
      maxProperties: 10_000,
      propertyNames: name('The name of an API.'),
      description: 'The APIs that routes are parts of, by name.',
    }),
    routes: Type.Array(routeSchema, {
      default: [],
      maxItems: 100_000,
      description: 'Which requests go where. The most specific route wins; the order here breaks ties only.',
    }),
    log: logSchema,
    metrics,
    plugins: Type.Array(
      Type.String({
        pattern: '^(\\./.|[a-z0-9@~-])',
        maxLength: 214,
        expects: 'the name of an npm package, or a folder that begins with ./',
      }),
      {
        default: [],
        maxItems: 100,
        description:
          'npm packages with more policies, looked up in `node_modules` of the folder of the document and of those above it, then where the gateway is installed; with `./` a folder below that of the document. Their code runs with the rights of the gateway.',
      },
    ),
    state: Type.Optional(stateSchema),
    cache: Type.Optional(cacheSchema),
    kubernetes: Type.Optional(kubernetesSchema),
    drain,
    overload,
  },
  { description: 'What a gateway does.' },
)

/** A document whose defaults are filled. */
export type Document = Static<typeof documentSchema>

/** A listener of a document. */
export type ListenerDocument = Document['listeners'][number]
/** An upstream of a document. */
export type UpstreamDocument = Document['upstreams'][string]
/** A route of a document. */
export type RouteDocument = Document['routes'][number]
/** What a chain lists: the name of a shared policy or of a group, or a policy written out. */
export type PolicyEntry = RouteDocument['policies'][number]
/** A step in the chain of a route, or a shared policy. */
export type PolicyDocument = Exclude<PolicyEntry, string>
