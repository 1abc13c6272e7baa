import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, object, oneOf, ratio, size, text } from './build.js'
import { breakerSchema, healthSchema, outlierSchema, whenAllDownSchema } from './upstream-health.js'
import { canarySchema, mirrorSchema, stickySchema } from './upstream-shares.js'

const url = text('target-url', {
  description:
    '`http://host:port` or `https://host:port`, without a path; or `k8s://service.namespace:port`, the pods of a Kubernetes Service.',
})

const target = object(
  {
    url,
    srv: Type.Optional(
      text('dns-name', {
        description:
          'Asks the name servers for the hosts and ports of this service (SRV), such as `_http._tcp.orders.example`; `url` still says the scheme, and the name for Host and TLS. Needs `resolve`.',
      }),
    ),
    service: Type.Optional(
      text('kubernetes-service', {
        description:
          'Sends to the ready pods of this Service, such as `k8s://orders.default:8443`; `url` still says the scheme, and the name for Host and TLS. The port is that of the pods, or its name in the Service. A target `k8s://orders.default:8080` is short for this with `url: http://orders.default:8080`.',
      }),
    ),
    weight: integer(0, 1000, { default: 1, description: 'Share of the requests; 0 sends none.' }),
    role: oneOf(['primary', 'failover', 'canary', 'mirror'], {
      default: 'primary',
      description:
        '`failover` is used while no primary can be, `canary` by the section `canary`; `mirror` gets copies of requests.',
    }),
    priority: integer(1, 100, {
      default: 1,
      description: 'Level of a failover target: those of the lowest number are used first.',
    }),
  },
  { description: 'A target with its weight and role.' },
)

const timeLimits = {
  connect: duration(
    { min: '1ms', max: '10m' },
    { default: '1s', description: 'To a connection, TLS included.' },
  ),
  headers: duration(
    { min: '1ms', max: '1h' },
    { default: '10s', description: 'From the end of the request to the response head.' },
  ),
  idle: duration(
    { min: '1ms', max: '1h' },
    { default: '30s', description: 'Longest silence within a body.' },
  ),
  total: duration(
    { min: '0s', max: '24h' },
    { default: '60s', description: 'The whole exchange; 0s: no bound.' },
  ),
}

const { connect, headers, idle, total } = timeLimits

/** Timeouts of a route: those that are written take the place of the upstream's. */
export const routeTimeoutsSchema = object(
  {
    connect: Type.Optional(withoutDefault(connect)),
    headers: Type.Optional(withoutDefault(headers)),
    idle: Type.Optional(withoutDefault(idle)),
    total: Type.Optional(withoutDefault(total)),
  },
  { description: 'Timeouts of this route, over those of its upstream.' },
)

const retry = object(
  {
    attempts: integer(0, 10, {
      default: 1,
      description: 'Further attempts after the first, where repeating is safe.',
    }),
    budget: ratio({ default: '20%', description: 'Retries as a share of the requests.' }),
    on: Type.Array(
      integer(400, 599, {
        description: 'A status.',
        remedy: 'list the statuses, for example [502, 503, 504]',
      }),
      {
        default: [502, 503, 504],
        maxItems: 50,
        description:
          "Statuses, of a target or of the gateway's own 502 and 504, after which a request is sent again: of an idempotent method or with an Idempotency-Key, while its body is at hand. Empty: none.",
      },
    ),
    backoff: duration(
      { min: '0s', max: '1m' },
      {
        default: '25ms',
        description: 'Upper end of the random wait before such a retry; twice as long each time.',
      },
    ),
    maxBackoff: duration(
      { min: '0s', max: '10m' },
      {
        default: '1s',
        description:
          'The longest that `backoff` grows to. A longer `Retry-After` is passed on, not waited for.',
      },
    ),
  },
  { default: {}, description: 'When an attempt fails before anything of an answer arrived.' },
)

const tls = object(
  {
    caFile: Type.Optional(filePath('The authorities to trust, PEM, in place of the built-in ones.')),
    certFile: Type.Optional(filePath('The certificate chain of the gateway, PEM.')),
    keyFile: Type.Optional(filePath('The private key of the gateway, PEM.')),
    servername: Type.Optional(text('host', { description: 'The name to ask for and to verify.' })),
    minVersion: oneOf(['TLSv1.2', 'TLSv1.3'], {
      default: 'TLSv1.2',
      description: 'The oldest version of TLS that is spoken.',
    }),
    pins: Type.Array(
      Type.String({
        pattern: '^sha256/[A-Za-z0-9+/]{43}=$',
        expects: 'sha256/ and the SHA-256 of a public key in base64',
      }),
      {
        default: [],
        maxItems: 10,
        description:
          'A target has to prove that it has one of these keys: `sha256/` and the base64 SHA-256 of its public key (SPKI); empty: any key.',
      },
    ),
    insecure: Type.Boolean({ default: false, description: 'Accepts every certificate. For tests only.' }),
  },
  { description: 'HTTPS towards the targets.' },
)

const resolve = object(
  {
    servers: Type.Array(text('dns-server'), {
      default: [],
      maxItems: 10,
      description: 'Name servers such as `10.0.0.2` or `10.0.0.2:5353`; empty: those of the system.',
    }),
    minTtl: duration(
      { min: '100ms', max: '1h' },
      { default: '1s', description: 'Names are not asked for more often, whatever their time to live.' },
    ),
    maxTtl: duration({ min: '100ms', max: '24h' }, { default: '30s', description: 'Nor more rarely.' }),
  },
  {
    description:
      'Resolves the names of the targets in the background, again when their time to live is over. Each address becomes a target with connections of its own. Absent: a name is asked for when a connection is opened.',
  },
)

const proxy = object(
  {
    url: text('proxy-url', { description: '`http://host:port` of the proxy.' }),
    username: Type.Optional(Type.String({ maxLength: 4096, description: 'The user.' })),
    password: Type.Optional(
      Type.String({
        secret: true,
        maxLength: 4096,
        description: 'The password; write a reference such as ${env:PROXY_PASSWORD}.',
      }),
    ),
  },
  {
    remedy: 'write { url: http://host:port }, and username and password beside url',
    description:
      'An HTTP proxy between the gateway and the targets, which opens a tunnel for every connection (CONNECT), to http:// targets too.',
  },
)

/** A group of servers that answer the same. */
export const upstreamSchema = object(
  {
    targets: Type.Array(Type.Union([url, target]), {
      default: [],
      maxItems: 1000,
      description: 'The servers: URLs, or mappings with a URL, a weight and a role.',
    }),
    balance: oneOf(['round-robin', 'least-pending', 'power-of-two', 'hash'], {
      default: 'round-robin',
      description:
        'How a target is chosen: in turn; the one with the fewest requests under way; the better of two random ones; always the same for a key.',
    }),
    hashOn: Type.Optional(
      text('hash-key', {
        description:
          'For balance hash: `header:x-user`, `cookie:sid`, `claim:sub` of the verified token, `consumer` (its id), or `ip`.',
      }),
    ),
    sticky: Type.Optional(stickySchema),
    spillBelow: ratio({
      default: '0%',
      description:
        'While less of the primaries (or of a failover level) is available, by weight, a part of the requests goes to the next level; 0%: only when none is.',
    }),
    canary: Type.Optional(canarySchema),
    mirror: Type.Optional(mirrorSchema),
    connections: integer(1, 65_535, { default: 256, description: 'Connections, per worker and target.' }),
    maxPending: integer(0, 1_000_000, {
      default: 1024,
      description:
        'Requests that may wait for a connection, per worker and target; one more is answered 503.',
    }),
    pendingTimeout: duration(
      { min: '1ms', max: '10m' },
      {
        default: '250ms',
        description:
          'Longest wait for one of the `connections`; then 503. While the oldest request has waited for half of it, new ones are answered 503 at once.',
      },
    ),
    keepAlive: duration(
      { min: '1ms', max: '1h' },
      { default: '4s', description: 'Idle connections are closed after this time.' },
    ),
    maxHeaderBytes: size(
      { min: '1kb', max: '1mb' },
      { default: '16kb', description: 'Largest response head accepted.' },
    ),
    responseBuffer: size(
      { min: '0b', max: '64mb' },
      {
        default: '1mb',
        description:
          'How much of a response is read ahead of a slow client, so that the connection to the target becomes free; all responses of a worker together 64 MB.',
      },
    ),
    timeouts: object(timeLimits, { default: {}, description: 'How long to wait.' }),
    retry,
    breaker: Type.Optional(breakerSchema),
    outlier: Type.Optional(outlierSchema),
    health: Type.Optional(healthSchema),
    whenAllDown: whenAllDownSchema,
    tls: Type.Optional(tls),
    proxy: Type.Optional(proxy),
    resolve: Type.Optional(resolve),
    transport: oneOf(['auto', 'wire', 'undici'], {
      default: 'auto',
      description:
        'The HTTP client towards the targets: `wire` is the fast one, for http:// targets; `undici` is the general one; `auto` takes wire for http:// and undici for https://.',
    }),
    http2: oneOf(['off', 'auto', 'prior-knowledge'], {
      default: 'off',
      remedy: 'write auto for https:// targets, prior-knowledge for http:// ones, or off',
      description:
        'HTTP/2 towards the targets: `auto` with https:// targets that agree to it in the TLS handshake (ALPN); `prior-knowledge` with all, http:// too (h2c), as gRPC servers want it.',
    }),
  },
  { expects: 'a mapping with targets', description: 'A group of servers that answer the same.' },
)

function withoutDefault<S extends { default?: unknown }>(schema: S): S {
  const copy = { ...schema }
  delete copy.default
  return copy
}
