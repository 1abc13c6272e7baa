import type { LintRule } from './rule.js'

/** Reports canaries and hashing by client IP address without `trustedProxies`. */
export const selectionByAddress: LintRule = {
  id: 'selection-by-address',
  severity: 'warning',
  title: 'Requests are distributed by client IP address, but `trustedProxies` is not set.',
  why: 'Behind a load balancer, every connection comes from its address. Without `trustedProxies`, a canary by `ip` then gets either all requests or none, and hashing by `ip` sends all requests to one target.',
  bad: `upstreams:
  orders:
    targets: ['http://10.0.0.1:80', { url: 'http://10.0.0.2:80', role: canary }]
    canary: { percent: 5% }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  good: `listeners: [{ address: '127.0.0.1:8080', trustedProxies: [10.0.0.0/8] }]
upstreams:
  orders:
    targets: ['http://10.0.0.1:80', { url: 'http://10.0.0.2:80', role: canary }]
    canary: { percent: 5% }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  check({ document }) {
    if (document.listeners.some(({ trustedProxies }) => trustedProxies.length > 0)) return []
    return Object.entries(document.upstreams).flatMap(([name, { canary, hashOn }]) => {
      const keys = [...(canary?.key === 'ip' ? ['canary'] : []), ...(hashOn === 'ip' ? ['hashOn'] : [])]
      return keys.map((key) => ({
        path: ['upstreams', name, key],
        at: 'key' as const,
        message: `${key} of upstream '${name}' selects by client IP address, which is the same for all clients behind a proxy`,
        remedy:
          'add trustedProxies to the listeners behind a proxy, or use a header, cookie or consumer as the key',
      }))
    })
  },
}
