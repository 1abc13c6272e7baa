import { parseDuration, parseSize } from '@sluice/core'
import { type DocumentPath, valueAt } from '../../diagnostic/document-path.js'
import type { LintRule } from './rule.js'

const LONG_MS = 600_000
const LARGE_BYTES = 1024 ** 3
/** A limit with its path, whether it is too high, and the message and remedy for that. */
type Limit = readonly [path: DocumentPath, isTooHigh: boolean, message: string, remedy: string]

/** Reports limits that are disabled or too high to protect the gateway. */
export const noLimit: LintRule = {
  id: 'no-limit',
  severity: 'warning',
  title: 'A timeout or limit is disabled, or too high to protect the gateway.',
  why: 'Without a limit, slow clients and hanging upstreams hold connections until none are left. The defaults are safe. Raise a limit only on the route that needs it, for example for a stream of events.',
  bad: `upstreams: { orders: { targets: ['http://10.0.0.1:80'], timeouts: { total: 0s } } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  good: `upstreams: { orders: { targets: ['http://10.0.0.1:80'], timeouts: { total: 30s } } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  check({ document, origins, written }) {
    const upstreams = Object.entries(document.upstreams).flatMap(([name, { timeouts }]): Limit[] => {
      const path = ['upstreams', name, 'timeouts']
      const remedy = 'set for example 60s, and use 0s only on routes that stream'
      const isOff = parseDuration(timeouts.total) === 0
      const long = (['connect', 'headers', 'idle'] as const).map((key): Limit => {
        const message = `a hanging target holds a request for ${timeouts[key]}`
        return [[...path, key], parseDuration(timeouts[key]) > LONG_MS, message, 'write at most 10m']
      })
      return [[[...path, 'total'], isOff, 'requests have no total timeout', remedy], ...long]
    })
    const entries = origins.entries(document.listeners, ['listeners'])
    const listeners = entries.flatMap(([{ limits }, listener]): Limit[] => {
      const path = [...listener, 'limits']
      const message = 'slow clients can hold connections open'
      const slow = (['minBodyRate', 'minReadRate'] as const).map((key): Limit => {
        return [[...path, key], parseSize(limits[key]) === 0, message, 'remove it, or write for example 240b']
      })
      const large = `any client can send bodies of up to ${limits.bodyBytes}`
      const remedy = 'write at most 1gb, and use body-limit on the routes that need more'
      return [...slow, [[...path, 'bodyBytes'], parseSize(limits.bodyBytes) > LARGE_BYTES, large, remedy]]
    })
    return [...upstreams, ...listeners].flatMap(([path, isTooHigh, message, remedy]) =>
      isTooHigh && valueAt(written, path) !== undefined ? [{ path, message, remedy }] : [],
    )
  },
}
