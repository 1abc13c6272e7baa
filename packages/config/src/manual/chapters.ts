import { LOG_TARGET_KINDS } from '../schema/log.js'

/** A chapter of the manual, about one location of the document. */
export interface Chapter {
  /** Path of the location as shown in the tables, and name of its example file. */
  readonly at: string
  /** Introduction that is not part of any key's description. */
  readonly text: string
}

/** The chapters in reading order. A key belongs to the chapter with the longest matching path. */
export const CHAPTERS: readonly Chapter[] = [
  { at: '', text: 'Only `version` is required. A document with nothing else answers all requests with 404.' },
  {
    at: 'listeners[]',
    text: 'Without `listeners`, the gateway listens on 127.0.0.1:8080. With `engine: node`, renewed certificate files are loaded within 10 s. With `engine: uws`, they are loaded when the listener opens, so a renewal requires a restart. Certificates that are broken or expire within 30 days are reported in `gw status`, in the operation log (`certificate.broken`, `certificate.expires`) and in metrics (`gw_certificate_broken`, `gw_certificate_expires_seconds`). For the features of each engine see [Choose a listener engine](../guides/engines.md). Behind trusted proxies, the client is the right-most address in `forwardedHeader` that is not a trusted proxy. An entry on the way there that is not an address is answered with 400. For `paths` see [paths](../guides/paths.md).',
  },
  {
    at: 'admin',
    text: '`gw new-key` creates a token and its digest. A `viewer` has read access (`gw status`, `gw diff`, `gw routes`, metrics). An `operator` can also drain the gateway. An `admin` can also deploy.',
  },
  {
    at: 'upstreams',
    text: '`connections`, `maxPending` and `retry.budget` apply per worker. See [upstreams](../guides/upstreams.md) for how targets are selected, which requests are retried, and how to choose `breaker`, `outlier` and `health`.',
  },
  {
    at: 'policies[]',
    text: 'For the settings in `with` see [the policy reference](policies.md), for `when` see [conditions](../guides/conditions.md). A policy that is used by a single route can be defined inline in that route.',
  },
  {
    at: 'policyGroups',
    text: 'Routes list groups in `policies`, like shared policies. A group is replaced with its policies, in order. Groups cannot contain groups, and a group must not have the name of a shared policy.',
  },
  {
    at: 'apis',
    text: 'APIs add metadata to log records: every call of a route with `api` is recorded with `api`, `group` and `revision`. They do not change how the gateway handles requests.',
  },
  {
    at: 'routes[]',
    text: 'Each route has exactly one of `upstream`, `respond` and `redirect`. The most specific route wins; the order in the document only breaks ties. The criteria are, in this order: higher `priority`; exact host, then `*.example.org`, then no host; exact path, then path with parameters, then prefix (longest first), then regular expression, then no path; larger number of other predicates. Regular expressions are tried in the order of the document. `gw explain METHOD URL -c FILE` shows which route wins and why the others do not.',
  },
  {
    at: 'routes[].match',
    text: 'A request must satisfy all keys. `{`, `}`, `#` and a leading `*` have a special meaning in YAML: quote paths such as `"/orders/{id}"` inside braces, and always quote hosts such as `"*.example.org"`.',
  },
  {
    at: 'routes[].rewrite',
    text: 'At most one of `prefix`, `path` and `regex`. `prefix` requires a route path that ends with `/*`. The query string is kept.',
  },
  { at: 'routes[].respond', text: 'The gateway responds itself, after the policies have run.' },
  {
    at: 'routes[].redirect',
    text: 'At least one of `scheme`, `host`, `port`, `path` and `prefix`. Parts of the URL that are not listed stay as the client sent them.',
  },
  {
    at: 'routes[].log',
    text: 'For the effect, and for where bodies are stored, see [the traffic log](../guides/traffic-log.md).',
  },
  {
    at: 'log',
    text: 'For the contents of a record see [the traffic log](../guides/traffic-log.md), for the guarantees of each target see [targets](../guides/traffic-log-targets.md).',
  },
  {
    at: 'log.outputs[]',
    text: 'Each target has its own selection of records and its own spool. See [several targets](../guides/traffic-log-targets.md#use-several-targets).',
  },
  {
    at: 'log.capture',
    text: 'See [capture headers and bodies](../guides/traffic-log.md#capture-headers-and-bodies).',
  },
  {
    at: 'log.privacy',
    text: 'See [keeping secrets out of the traffic log](../guides/traffic-log-privacy.md).',
  },
  {
    at: 'log.elasticsearch',
    text: 'See [targets](../guides/traffic-log-targets.md) and [searching](../guides/traffic-log-search.md).',
  },
  { at: 'log.syslog', text: 'See [targets](../guides/traffic-log-targets.md).' },
  { at: 'log.webhook', text: 'See [targets](../guides/traffic-log-targets.md).' },
  { at: 'log.loki', text: 'See [targets](../guides/traffic-log-targets.md#loki).' },
  { at: 'log.kafka', text: 'See [targets](../guides/traffic-log-targets.md).' },
  { at: 'log.otlp', text: 'See [targets](../guides/traffic-log-targets.md#opentelemetry).' },
  { at: 'log.custom', text: 'See [targets](../guides/traffic-log-targets.md).' },
  { at: 'metrics', text: 'See [monitoring](../guides/monitoring.md).' },
  { at: 'tracing', text: 'See [tracing](../guides/tracing.md).' },
  {
    at: 'drain',
    text: 'SIGTERM and `gw drain` start a graceful shutdown. The readiness check fails with 503, after `delay` the listeners close, and requests in flight have `timeout` to finish.',
  },
  {
    at: 'overload',
    text: 'A worker that cannot keep up rejects some requests immediately, so that the others are served in time. Health checks and the admin API are never rejected.',
  },
  {
    at: 'state',
    text: 'Store for policies that share state among replicas. Each worker has one connection, or one per primary in a cluster. While a server is unavailable or slow, calls fail immediately, and each policy defines what happens then; in a cluster this affects only the keys of that server. Slot migrations and failovers are followed. Configure the server with `maxmemory-policy volatile-lru` or `volatile-ttl`: all keys have an expiry time. See [bounds](../internals/bounds.md) and [limits](../guides/rate-limits.md#limits-of-the-shared-store).',
  },
  {
    at: 'control',
    text: 'The gateway connects to the controller and opens no port for it. `gw start --control` and its options take precedence over these keys. A gateway serves the bundle that was active last, from its data directory, whether it reaches the controller or not. Before the first bundle, it serves this document. Changes of this document then only affect the connection, after `SIGHUP` or when the file changes. While a controller is set, `gw deploy` to this gateway needs `--force`.',
  },
  {
    at: 'cache',
    text: 'Server in which the policy `cache` stores values for several gateways. See [cache server](../guides/cache-server.md) and [the policy](../guides/caching.md#cache-your-own-values). Each policy defines what happens while the server is unavailable.',
  },
  {
    at: 'cache.serve',
    text: 'Runs a [cache server](../guides/cache-server.md#let-the-gateway-run-it) next to the workers. It is restarted if it exits, or if these keys or `token` change. Values in its memory are then lost.',
  },
  {
    at: 'kubernetes',
    text: 'Only needed for a gateway outside of the cluster. See [upstreams](../guides/upstreams.md#send-requests-to-kubernetes-pods).',
  },
  {
    at: 'vault',
    text: 'Source of `${vault:PATH#KEY}` references. See [Keep secrets out of the document](../guides/secrets.md#use-hashicorp-vault).',
  },
]

/** Locations that have the same keys as another location, where they are documented. */
export const REPEATED: ReadonlyMap<string, string> = new Map([
  ['apis.NAME.log', 'routes[].log'],
  ['policyGroups.NAME[]', 'policies[]'],
  ...[...LOG_TARGET_KINDS, 'privacy', 'capture'].map(
    (key) => [`log.outputs[].${key}`, `log.${key}`] as const,
  ),
])
