import type { LintRule } from './rule.js'

const ORDERS = `upstreams: { orders: { targets: ['http://10.0.0.1:80'] } }\n`
const ROUTE = 'routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]\n'

/** Returns a document with a policy on its route. */
const guarded = (policy: string): string =>
  `${ORDERS}routes:
  - id: orders
    match: { path: /orders/* }
    upstream: orders
    policies: [${policy}]
`

/** Returns a document with a login on a path. */
const login = (path: string): string => `${ORDERS}routes:
  - id: orders
    match: { path: ${path} }
    upstream: orders
    policies:
      - use: oidc
        with:
          issuer: https://id.example.com
          clientId: shop
          clientSecret: '\${env:SECRET}'
          redirectUri: https://shop.example.com/oauth2/callback
          session: { secrets: ['\${env:SECRET}'] }
`

const WARNINGS: readonly Omit<LintRule, 'severity'>[] = [
  {
    id: 'shadowed-route',
    title: 'A route is never reached, because another one matches all its requests.',
    why: 'The most specific route wins, unless a priority or a regular expression decides. Then a general route can hide a specific one.',
    bad: `${ORDERS}routes:
  - { id: all, match: { path: /* }, priority: 10, upstream: orders }
  - { id: orders, match: { path: /orders/* }, upstream: orders }
`,
    good: `${ORDERS}routes:
  - { id: all, match: { path: /* }, upstream: orders }
  - { id: orders, match: { path: /orders/* }, upstream: orders }
`,
  },
  {
    id: 'consumer-limit',
    title: 'A limit counts per consumer, but runs before authentication.',
    why: 'The consumer is only known after an authentication policy has run. Until then all callers share one counter, and one of them can use up the limit of all.',
    bad: guarded('{ use: rate-limit, with: { limit: 10/s, key: consumer.id } }'),
    good: guarded('{ use: rate-limit, with: { limit: 10/s, key: client.ip } }'),
  },
  {
    id: 'unused',
    title: 'No route uses an upstream, API, policy or policy group.',
    why: 'An unused part often points to a typo in the route that should use it, or is left over from an earlier change.',
    bad: `${ORDERS}routes: [{ id: orders, match: { path: /orders/* }, respond: {} }]
`,
    good: ORDERS + ROUTE,
  },
  {
    id: 'no-effect',
    title: 'A setting has no effect without another one.',
    why: 'The document promises something that the gateway does not do.',
    bad: `upstreams: { orders: { targets: ['http://10.0.0.1:80'], tls: { minVersion: TLSv1.3 } } }\n${ROUTE}`,
    good: `upstreams: { orders: { targets: ['https://10.0.0.1'], tls: { minVersion: TLSv1.3 } } }\n${ROUTE}`,
  },
  {
    id: 'likely-typo',
    title: 'A value or key is valid, but is probably a typo.',
    why: 'Unknown HTTP methods, parameters in the syntax of other gateways (`/orders/:id`), and placeholders where nothing replaces them are taken literally. Keys that start with `x-`, such as `x-timeouts`, have no effect.',
    bad: `${ORDERS}routes: [{ id: orders, match: { path: '/orders/:id' }, upstream: orders }]\n`,
    good: `${ORDERS}routes: [{ id: orders, match: { path: '/orders/{id}' }, upstream: orders }]\n`,
  },
  {
    id: 'engine-limits',
    title: 'A listener uses `engine: uws` with a setting that this engine supports only in part.',
    why: '`engine: uws` is faster, but does not reload certificates, compress WebSocket messages or keep all bytes of header values. Use `engine: node` where that matters.',
    bad: `listeners: [{ address: '0.0.0.0:8080' }]
routes: [{ id: orders, match: { path: /orders/*, headers: { x-tenant: a } }, respond: {} }]
`,
    good: `listeners: [{ address: '0.0.0.0:8080', engine: node }]
routes: [{ id: orders, match: { path: /orders/*, headers: { x-tenant: a } }, respond: {} }]
`,
  },
  {
    id: 'policy-settings',
    title: 'A policy has settings that are rarely intended.',
    why: 'The policy itself gives the reason. For example, `jwt` without `audiences` accepts tokens that were issued for other services.',
    bad: guarded('{ use: jwt, with: { jwks: { url: https://id.example.com/keys } } }'),
    good: guarded('{ use: jwt, with: { audiences: [orders], jwks: { url: https://id.example.com/keys } } }'),
  },
  {
    id: 'open-cors',
    title: '`cors` accepts credentials from too many sites, or from sites without TLS.',
    why: "With `credentials: true`, pages of the listed origins act with the cookies of the user. Pages of an `http://` origin can be modified in transit, and a broad pattern also matches other people's sites.",
    bad: guarded("{ use: cors, with: { origins: ['http://app.example.com'], credentials: true } }"),
    good: guarded("{ use: cors, with: { origins: ['https://app.example.com'], credentials: true } }"),
  },
  {
    id: 'unmatched-path',
    title: 'A policy answers a path that no route with the policy matches.',
    why: 'Policies such as `oidc` answer the callback of a login themselves. If no route with the policy matches that path, the login cannot finish.',
    bad: login('/orders/*'),
    good: login('/*'),
  },
  {
    id: 'deprecated',
    title: 'The document uses a deprecated name of a key or value.',
    why: 'Old names keep working, but a later version removes them.',
    bad: `listeners: [{ address: '127.0.0.1:8080', limits: { bodyBuffer: 32kb } }]\n`,
    good: `listeners: [{ address: '127.0.0.1:8080', limits: { bodyBufferBytes: 32kb } }]\n`,
  },
  {
    id: 'moved-log',
    title: 'The working directory contains log records that the gateway would not deliver.',
    why: 'Paths are relative to the folder of the document. Records that were written relative to the working directory would not be delivered.',
    bad: 'log: { sink: file, file: { dir: data/traffic } }\n',
    good: 'log: { sink: file, file: { dir: /var/lib/sluice/traffic } }\n',
  },
  {
    id: 'validation',
    title: 'Any other warning of `gw validate`.',
    why: 'The message describes the problem and the fix.',
    bad: '',
    good: '',
  },
]

/** The warnings of `gw validate`. The checks of the document report them with the id of their rule. */
export const VALIDATION_WARNINGS: readonly LintRule[] = WARNINGS.map((one) => ({
  ...one,
  severity: 'warning',
}))
