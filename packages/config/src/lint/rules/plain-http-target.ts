import { BlockList, isIP } from 'node:net'
import { isIssue } from '../../diagnostic/issue.js'
import { parseTarget } from '../../grammar/target.js'
import type { LintRule } from './rule.js'
import { targetsOf } from './targets.js'

/** Top-level domains that do not exist on the internet (RFC 2606, RFC 6762, RFC 8375), and names of clusters. */
const PRIVATE_NAMES =
  /(?:^|\.)(?:localhost|local|internal|intranet|lan|corp|home|svc|consul|home\.arpa|test|example|invalid)$/

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  PRIVATE.addSubnet(network, bits)
for (const [network, bits] of [
  ['fc00::', 7],
  ['fe80::', 10],
  ['::1', 128],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv6')

/** Reports targets on the internet that are called without TLS. */
export const plainHttpTarget: LintRule = {
  id: 'plain-http-target',
  severity: 'warning',
  title: 'A target with a public name or address is called without TLS.',
  why: 'Requests to public hosts cross other networks, where they can be read and changed, including credentials. Private addresses, names without a dot, and names such as `orders.internal` are allowed.',
  bad: `upstreams: { orders: { targets: ['http://api.example.com'] } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  good: `upstreams: { orders: { targets: ['https://api.example.com'] } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  check: (subject) =>
    targetsOf(subject).flatMap(({ url, path, isDiscovered }) => {
      const target = parseTarget(url)
      if (isDiscovered || isIssue(target) || !target.origin.startsWith('http:')) return []
      const { hostname } = new URL(target.origin)
      if (!isPublic(hostname)) return []
      return [
        {
          path,
          message: 'this target is on a public host, but is called without TLS',
          remedy: 'write https://, or disable this rule if the connection is private',
        },
      ]
    }),
}

function isPublic(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  if (family !== 0) return !PRIVATE.check(host, family === 6 ? 'ipv6' : 'ipv4')
  return host.includes('.') && !PRIVATE_NAMES.test(host)
}
