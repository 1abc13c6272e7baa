/** A part of the manual: one location of the document. */
export interface Chapter {
  /** The path of the location, as rows of keys show it; its example has the same name. */
  readonly at: string
  /** What no description of a key can say. */
  readonly text: string
}

/** The chapters in reading order. A key belongs to the chapter with the longest path that it begins with. */
export const CHAPTERS: readonly Chapter[] = [
  { at: '', text: 'Only `version` is required. A document that has nothing else answers 404.' },
  {
    at: 'listeners[]',
    text: 'A document without listeners gets one on 127.0.0.1:8080. `engine: node` renews certificates whose files change, within 10 s; `engine: uws` reads them when the listener opens: to renew them, restart the gateway. A certificate that is broken or expires within 30 days is named in `gw status`, in the operation log (`certificate.broken`, `certificate.expires`) and in the metrics (`gw_certificate_broken`, `gw_certificate_expires_seconds`). What each engine can: [limits](limits.md). Behind trusted proxies the client is the right-most address in `forwardedHeader` that is none of them; a hop that has to be read and is no address is answered with 400. `paths`: [paths](../guides/paths.md).',
  },
  {
    at: 'admin',
    text: '`gw new-key` makes a token and its digest. A `viewer` may look (`gw status`, `gw diff`, `gw routes`, metrics), an `operator` may drain as well, an `admin` may deploy as well.',
  },
  {
    at: 'upstreams',
    text: '`connections`, `maxPending` and `budget` count for each worker. Which targets are sent requests, what is repeated, and how to choose the values of `breaker`, `outlier` and `health`, is in [upstreams](../guides/upstreams.md).',
  },
  {
    at: 'policies[]',
    text: 'What `with` takes is in [the reference of the policies](policies.md), and what `when` takes in [conditions](../guides/conditions.md). A policy that one route uses can be written out there, without being shared.',
  },
  {
    at: 'policyGroups',
    text: 'Routes name a group in their `policies` as they name a shared policy; its policies take its place there, in their order. Groups do not nest, and a group is not called as a shared policy is.',
  },
  {
    at: 'apis',
    text: 'Names for records: these hold `api`, `group` and `revision` of every call of a route that is a part of an API. They change nothing of what the gateway does.',
  },
  {
    at: 'routes[]',
    text: 'A route has exactly one of `upstream`, `respond` and `redirect`. Which route wins does not depend on the order: a higher `priority`, then an exact host before `*.example.org` before none, then an exact path before parameters before prefixes (the longest first) before regular expressions before none, then the one that asks for more fields. `gw explain METHOD URL -c FILE` shows the winner and why the others lose.',
  },
  {
    at: 'routes[].match',
    text: 'Everything that is written must hold. `{`, `}`, `*` at the beginning and `#` mean something in YAML: quote a path such as `"/orders/{id}"` within braces, and a host such as `"*.example.org"` everywhere.',
  },
  {
    at: 'routes[].rewrite',
    text: 'At most one of `prefix`, `path` and `regex`. `prefix` needs a route whose path ends with `/*`. The query stays.',
  },
  { at: 'routes[].respond', text: 'No upstream is asked; policies run before.' },
  {
    at: 'routes[].redirect',
    text: 'What is not written stays as the client sent it; at least one of `scheme`, `host`, `port`, `path` and `prefix`.',
  },
  {
    at: 'routes[].log',
    text: 'What it means, and where bodies go: [the traffic log](../guides/traffic-log.md).',
  },
  {
    at: 'log',
    text: 'What a record says: [the traffic log](../guides/traffic-log.md). What each sink promises: [targets](../guides/traffic-log-targets.md).',
  },
  {
    at: 'log.targets[]',
    text: 'Each gets its own records, in a spool of its own. See [several targets](../guides/traffic-log-targets.md#several-targets).',
  },
  { at: 'log.capture', text: 'See [keeping the messages](../guides/traffic-log.md#keeping-the-messages).' },
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
  { at: 'log.custom', text: 'See [targets](../guides/traffic-log-targets.md).' },
  {
    at: 'drain',
    text: 'What SIGTERM and `gw drain` do: readiness answers 503, after `delay` no more connections are taken, what is in flight has `timeout`.',
  },
  {
    at: 'overload',
    text: 'A worker that cannot keep up refuses some requests at once, so that the others are served in time. Health answers of listeners and the admin API are never refused.',
  },
  {
    at: 'state',
    text: 'Where policies that share something among replicas keep it. Each worker has one connection, or in a cluster one to each primary. While a server is away or late, calls fail at once, and each policy says what it does then; in a cluster this is so for the keys of that server only. Slots that move and replicas that take over are followed. What a server may hold and forget: give it `maxmemory-policy volatile-lru` or `volatile-ttl`, because all that is written expires. [Bounds](../internals/bounds.md), [limits](limits.md#shared-state).',
  },
  {
    at: 'cache',
    text: 'Where the policy `cache` keeps values for several gateways: [its server](../guides/cache-server.md), [the policy](../guides/caching.md#cache-your-own-values). Each policy says what happens while the server does not answer.',
  },
  {
    at: 'cache.serve',
    text: 'A [cache server](../guides/cache-server.md#one-that-the-gateway-runs) beside the workers. It is restarted when it ends, and when these keys or `token` change: its values are lost then.',
  },
  {
    at: 'kubernetes',
    text: 'Needed only for a gateway outside of the cluster. See [upstreams](../guides/upstreams.md#send-requests-to-kubernetes-pods).',
  },
]

/** Locations with the same keys as another one, where they are described. */
export const REPEATED: ReadonlyMap<string, string> = new Map([
  ['apis.NAME.log', 'routes[].log'],
  ['policyGroups.NAME[]', 'policies[]'],
  ...['file', 'elasticsearch', 'stdout', 'syslog', 'webhook', 'custom', 'privacy', 'capture'].map(
    (key) => [`log.targets[].${key}`, `log.${key}`] as const,
  ),
])
