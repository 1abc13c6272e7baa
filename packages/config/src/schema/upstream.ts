import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, object, oneOf, ratio, size, text } from './build.js'
import { breakerSchema, healthSchema, outlierSchema, panicModeSchema } from './upstream-health.js'
import { canarySchema, mirrorSchema, stickySchema } from './upstream-shares.js'

const url = text('target-url', {
  description:
    '`http://host:port` or `https://host:port`, without a path, or `k8s://service.namespace:port` for the pods of a Kubernetes Service.',
})

const target = object(
  {
    url,
    srv: Type.Optional(
      text('dns-name', {
        description:
          'DNS SRV record that lists hosts and ports, such as `_http._tcp.orders.example`. `url` still defines the scheme and the name for Host and TLS. Requires `resolve`.',
      }),
    ),
    service: Type.Optional(
      text('kubernetes-service', {
        description:
          'Kubernetes Service whose ready pods receive the requests, such as `k8s://orders.default:8443`. `url` still defines the scheme and the name for Host and TLS. The port is the pod port, or the name of a port of the Service. The target `k8s://orders.default:8080` is short for this with `url: http://orders.default:8080`.',
      }),
    ),
    weight: integer(0, 1000, { default: 1, description: 'Relative share of requests. 0: none.' }),
    role: oneOf(['primary', 'failover', 'canary', 'mirror'], {
      default: 'primary',
      description:
        '`failover` targets are used if no primary is available. `canary` targets receive the requests selected by `canary`. `mirror` targets receive copies.',
    }),
    priority: integer(1, 100, {
      default: 1,
      description: 'Priority of a failover target. Lower numbers are used first.',
    }),
  },
  { description: 'A target with weight and role.' },
)

const timeLimits = {
  connect: duration('1ms', '10m', { default: '1s', description: 'Maximum time to connect, including TLS.' }),
  headers: duration('1ms', '1h', {
    default: '10s',
    description: 'Maximum time from the end of the request to the response head.',
  }),
  idle: duration('1ms', '1h', { default: '30s', description: 'Maximum idle time within a body.' }),
  total: duration('0s', '24h', {
    default: '60s',
    description: 'Maximum time for the whole exchange. 0s: no limit.',
  }),
}

const { connect, headers, idle, total } = timeLimits

/** Schema of the timeouts of a route, which override those of its upstream. */
export const routeTimeoutsSchema = object(
  {
    connect: Type.Optional(withoutDefault(connect)),
    headers: Type.Optional(withoutDefault(headers)),
    idle: Type.Optional(withoutDefault(idle)),
    total: Type.Optional(withoutDefault(total)),
  },
  { description: 'Timeouts that override those of the upstream.' },
)

const retry = object(
  {
    attempts: integer(0, 10, {
      default: 1,
      description: 'Maximum number of retries, for requests that are safe to repeat.',
    }),
    budget: ratio({ default: '20%', description: 'Maximum number of retries as a share of all requests.' }),
    on: Type.Array(
      integer(400, 599, {
        description: 'A status.',
        remedy: 'list the statuses, for example [502, 503, 504]',
      }),
      {
        default: [502, 503, 504],
        maxItems: 50,
        description:
          'Statuses that cause a retry, from a target or from the gateway itself (502 and 504). Only requests with an idempotent method or an Idempotency-Key are retried, and only while their body is buffered. Empty: none.',
      },
    ),
    backoff: duration('0s', '1m', {
      default: '25ms',
      description: 'Maximum random delay before the first retry. It doubles with each retry.',
    }),
    maxBackoff: duration('0s', '10m', {
      default: '1s',
      description:
        'Maximum value that `backoff` grows to. A longer `Retry-After` is forwarded to the client instead of retrying.',
    }),
  },
  { default: {}, description: 'Retries of attempts that fail before the response starts.' },
)

const tls = object(
  {
    caFile: Type.Optional(filePath('CA certificates to trust instead of the built-in ones, PEM.')),
    certFile: Type.Optional(filePath('Client certificate chain of the gateway, PEM.')),
    keyFile: Type.Optional(filePath('Private key of the client certificate, PEM.')),
    servername: Type.Optional(
      text('host', { description: 'Server name for SNI and certificate verification.' }),
    ),
    minVersion: oneOf(['TLSv1.2', 'TLSv1.3'], { default: 'TLSv1.2', description: 'Minimum TLS version.' }),
    pins: Type.Array(
      Type.String({
        pattern: '^sha256/[A-Za-z0-9+/]{43}=$',
        expects: 'sha256/ and the SHA-256 of a public key in base64',
      }),
      {
        default: [],
        maxItems: 10,
        description:
          "Pinned public keys: `sha256/` and the base64 SHA-256 of the public key (SPKI). The target's certificate must have one of them. Empty: any key.",
      },
    ),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For testing only.' }),
  },
  { description: 'TLS settings for `https://` targets.' },
)

const resolve = object(
  {
    servers: Type.Array(text('dns-server'), {
      default: [],
      maxItems: 10,
      description: "Name servers such as `10.0.0.2` or `10.0.0.2:5353`. Empty: the system's.",
    }),
    minTtl: duration('100ms', '1h', {
      default: '1s',
      description: 'Minimum time between lookups of a name, even if its TTL is shorter.',
    }),
    maxTtl: duration('100ms', '24h', {
      default: '30s',
      description: 'Maximum time between lookups of a name, even if its TTL is longer.',
    }),
  },
  {
    description:
      'Resolves target names in the background and repeats the lookup when the TTL expires. Each address becomes a target with its own connections. Absent: names are resolved when a connection is opened.',
  },
)

const proxy = object(
  {
    url: text('proxy-url', { description: 'URL of the proxy, `http://host:port`.' }),
    username: Type.Optional(Type.String({ maxLength: 4096, description: 'User name.' })),
    password: Type.Optional(
      Type.String({
        secret: true,
        maxLength: 4096,
        description: 'Password. Use a reference such as ${env:PROXY_PASSWORD}.',
      }),
    ),
  },
  {
    remedy: 'write { url: http://host:port }, with username and password next to url if needed',
    description:
      'HTTP proxy between the gateway and the targets. Every connection uses a CONNECT tunnel, even to `http://` targets.',
  },
)

const http2 = object(
  {
    alpn: Type.Boolean({
      default: false,
      description: 'Uses HTTP/2 for `https://` targets that negotiate it.',
    }),
    priorKnowledge: Type.Boolean({
      default: false,
      description: 'Uses HTTP/2 for all targets, including `http://` (h2c), as gRPC servers need it.',
    }),
  },
  {
    default: {},
    description: 'HTTP/2 for the targets.',
    remedy: 'write { alpn: true } for https:// targets, or { priorKnowledge: true } for http:// targets',
    deprecatedValues: { off: {}, auto: { alpn: true }, 'prior-knowledge': { priorKnowledge: true } },
  },
)

/** Schema of an upstream. */
export const upstreamSchema = object(
  {
    targets: Type.Array(Type.Union([url, target]), {
      default: [],
      maxItems: 1000,
      description: 'Servers: URLs, or objects with URL, weight and role.',
    }),
    balance: oneOf(['round-robin', 'least-pending', 'power-of-two', 'hash'], {
      default: 'round-robin',
      description:
        'Load balancing method: each target in turn, the target with the fewest requests in flight, the better of two random targets, or the same target for the same key.',
    }),
    hashOn: Type.Optional(
      text('hash-key', {
        description:
          'Key for `balance: hash`: `header:x-user`, `cookie:sid`, `claim:sub` of the verified token, `consumer` (its id), or `ip`.',
      }),
    ),
    sticky: Type.Optional(stickySchema),
    failoverBelow: ratio({
      default: '0%',
      description:
        'Failover threshold. While less than this share of the primaries (or of a failover level) is available by weight, part of the requests goes to the next level. 0%: only if none is available.',
    }),
    canary: Type.Optional(canarySchema),
    mirror: Type.Optional(mirrorSchema),
    connections: integer(1, 65_535, {
      default: 256,
      description: 'Maximum number of connections per worker and target.',
    }),
    maxPending: integer(0, 1_000_000, {
      default: 1024,
      description:
        'Maximum number of requests that wait for a connection, per worker and target. More are answered with 503.',
    }),
    pendingTimeout: duration('1ms', '10m', {
      default: '250ms',
      description:
        'Maximum time to wait for a connection, then 503. While the oldest request has waited half of it, new requests are answered with 503 at once.',
    }),
    keepAlive: duration('1ms', '1h', {
      default: '4s',
      description: 'Time after which idle connections are closed.',
    }),
    maxHeaderBytes: size('1kb', '1mb', {
      default: '16kb',
      description: 'Maximum size of the response head.',
    }),
    responseBufferBytes: size('0b', '64mb', {
      default: '1mb',
      description:
        'Maximum number of response bytes that are buffered for a slow client, to free the connection to the target early. The total per worker is 64 MB.',
    }),
    timeouts: object(timeLimits, { default: {}, description: 'Timeouts.' }),
    retry,
    breaker: Type.Optional(breakerSchema),
    outlier: Type.Optional(outlierSchema),
    health: Type.Optional(healthSchema),
    panicMode: panicModeSchema,
    tls: Type.Optional(tls),
    proxy: Type.Optional(proxy),
    resolve: Type.Optional(resolve),
    transport: oneOf(['auto', 'wire', 'undici'], {
      default: 'auto',
      description:
        'HTTP client for the targets: `wire` is the fast one and supports only `http://`, `undici` supports both. `auto` uses wire for `http://` and undici for `https://`.',
    }),
    http2,
  },
  {
    expects: 'an object with targets',
    remedy: 'write for example { targets: [http://10.0.0.5:9000] }',
    deprecatedKeys: {
      spillBelow: 'failoverBelow',
      whenAllDown: { use: 'panicMode', values: { refuse: false, 'try-any': true } },
      responseBuffer: 'responseBufferBytes',
    },
    misplaced: { servers: 'write targets under targets, and DNS servers under resolve.servers' },
    description: 'A group of equivalent servers.',
  },
)

function withoutDefault<S extends { default?: unknown }>(schema: S): S {
  const copy = { ...schema }
  delete copy.default
  return copy
}
