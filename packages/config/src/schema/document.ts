import { type Static, Type } from '@sinclair/typebox'
import { apiSchema, environmentSchema } from './api.js'
import { duration, filePath, integer, mapOf, name, object } from './build.js'
import { cacheSchema } from './cache.js'
import { controlSchema } from './control.js'
import { adminSchema, listenerSchema } from './listener.js'
import { logSchema } from './log.js'
import { metricsSchema } from './metrics.js'
import { policyGroupSchema, sharedPolicySchema } from './policy.js'
import { routeSchema } from './route.js'
import { stateSchema } from './state.js'
import { tracingSchema } from './tracing.js'
import { upstreamSchema } from './upstream.js'
import { vaultSchema } from './vault.js'

/** Schema of the Kubernetes cluster that is used for service discovery. */
const kubernetesSchema = object(
  {
    kubeconfig: filePath(
      'Kubeconfig file with the API server, its CA, and a token or client certificate. Credential plugins (`exec`) are not supported.',
    ),
    context: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'Context of the kubeconfig file. Absent: its current context.',
      }),
    ),
  },
  {
    description:
      'Kubernetes cluster that is used to discover targets such as `k8s://orders.default:8080`. Absent: the cluster that the gateway runs in, with the service account of its pod.',
  },
)

const drain = object(
  {
    delay: duration('0s', '10m', {
      default: '0s',
      description: 'Time between failing the readiness check (503) and closing the listeners.',
    }),
    timeout: duration('0s', '1h', {
      default: '30s',
      description:
        'Maximum time for requests in flight to finish. Then their connections are closed and the exit code is 1.',
    }),
  },
  { default: {}, description: 'Graceful shutdown.' },
)

const overload = object(
  {
    maxLoopDelay: duration('0s', '10s', {
      default: '100ms',
      description:
        'Maximum time that requests wait for a busy worker, measured as processor time. Requests that would wait longer are rejected with 503. Routes with `criticality: low` are rejected from 80 % of this limit, `critical` routes never. 0s: no queue, and no rejections because of delay.',
    }),
    maxInFlight: Type.Optional(
      integer(1, 1_000_000, {
        description:
          'Maximum number of requests in flight per worker. More are rejected with 503: requests with `criticality: low` from 80 % of this limit, `critical` ones from 120 %. Absent: no limit.',
      }),
    ),
    retryAfter: duration('1s', '1h', {
      default: '1s',
      description: 'Value of the Retry-After header of these 503 responses.',
    }),
  },
  { default: {}, description: 'Load shedding when a worker is overloaded.' },
)

/**
 * The schema of the document, with the type, range, default and description of every key.
 * Additional keywords:
 * - `grammar`, `bounds`, `choice`: see check/keywords.
 * - `expects`: noun phrase for messages.
 * - `remedy`: suggestion for values of the wrong type.
 * - `secret`: the value is never shown.
 * - `path`: relative paths start in the folder of the document. Also used in the schemas of policies.
 * - `keepsReference`: the plan keeps references in the string, whatever the schema says about the value.
 */
export const documentSchema = object(
  {
    version: Type.Literal(1, { description: 'Version of the document format.' }),
    environment: Type.Optional(environmentSchema),
    listeners: Type.Array(listenerSchema, {
      default: [{ address: '127.0.0.1:8080' }],
      minItems: 1,
      maxItems: 64,
      description: 'Addresses that accept client connections.',
    }),
    admin: adminSchema,
    workers: Type.Optional(
      integer(1, 64, {
        description: 'Number of worker processes. Absent: from the tier, or from the CPU quota.',
      }),
    ),
    upstreams: mapOf(upstreamSchema, {
      default: {},
      maxProperties: 10_000,
      propertyNames: name('Name of the upstream.'),
      description: 'Groups of backend servers, by name.',
    }),
    policies: Type.Array(sharedPolicySchema, {
      default: [],
      maxItems: 10_000,
      description: 'Policies shared by several routes.',
    }),
    policyGroups: mapOf(policyGroupSchema, {
      default: {},
      maxProperties: 10_000,
      propertyNames: name('Name of the group, used by routes.'),
      description: 'Lists of policies that routes use together, by name.',
    }),
    apis: mapOf(apiSchema, {
      default: {},
      maxProperties: 10_000,
      propertyNames: name('Name of the API.'),
      description: 'APIs that routes belong to, by name.',
    }),
    routes: Type.Array(routeSchema, {
      default: [],
      maxItems: 100_000,
      description: 'Routing rules. The most specific route wins; the order in this list only breaks ties.',
    }),
    log: logSchema,
    metrics: metricsSchema,
    tracing: Type.Optional(tracingSchema),
    plugins: Type.Array(
      Type.String({
        pattern: '^(\\./.|[a-z0-9@~-])',
        maxLength: 214,
        expects: 'the name of an npm package, or a folder that starts with ./',
      }),
      {
        default: [],
        maxItems: 100,
        description:
          'npm packages that provide additional policies. They are looked up in `node_modules` in the folder of the document and its parents, then in the installation of the gateway. Names that start with `./` are folders below the document. Plugins run with the privileges of the gateway.',
      },
    ),
    state: Type.Optional(stateSchema),
    cache: Type.Optional(cacheSchema),
    kubernetes: Type.Optional(kubernetesSchema),
    vault: Type.Optional(vaultSchema),
    control: Type.Optional(controlSchema),
    drain,
    overload,
  },
  { description: 'Configuration of a gateway.' },
)

/** A document with defaults filled in. */
export type Document = Static<typeof documentSchema>

/** A listener of a document. */
export type ListenerDocument = Document['listeners'][number]
/** An upstream of a document. */
export type UpstreamDocument = Document['upstreams'][string]
/** A route of a document. */
export type RouteDocument = Document['routes'][number]
/** An entry of a policy chain: the name of a shared policy or group, or an inline policy. */
export type PolicyEntry = RouteDocument['policies'][number]
/** An inline policy of a chain, or a shared policy. */
export type PolicyDocument = Exclude<PolicyEntry, string>
