import { type DocumentPath, isMapping } from '../../diagnostic/document-path.js'
import type { LintRule } from './rule.js'

/** Reports TLS connections without verification of the certificate. */
export const unverifiedTls: LintRule = {
  id: 'unverified-tls',
  severity: 'warning',
  title: 'A TLS connection accepts any certificate.',
  why: 'With `insecure: true`, anyone between the gateway and the server can read and change the traffic. Trust a private CA with `caFile`, or pin the public key with `pins`.',
  bad: `upstreams: { orders: { targets: ['https://10.0.0.1'], tls: { insecure: true } } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  good: `upstreams: { orders: { targets: ['https://10.0.0.1'], tls: { servername: orders.example.com } } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  check: ({ whole }) =>
    insecureIn(whole, []).map((path) => ({
      path,
      message: 'certificates are not verified',
      remedy: 'remove it, and use caFile for certificates of a private CA',
    })),
}

function insecureIn(value: unknown, path: DocumentPath): DocumentPath[] {
  if (value === true) return path.at(-1) === 'insecure' ? [path] : []
  if (Array.isArray(value)) return value.flatMap((item, i) => insecureIn(item, [...path, i]))
  return isMapping(value)
    ? Object.entries(value).flatMap(([key, item]) => insecureIn(item, [...path, key]))
    : []
}
