import { parseDuration, parseSize } from '@sluice/core'
import { type DocumentPath, valueAt } from '../../diagnostic/document-path.js'
import type { LintRule, LintSubject, RuleFinding } from './rule.js'

const LONG_MS = 600_000
const LARGE_BYTES = 1024 ** 3

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
  check(subject) {
    const { document, origins } = subject
    const upstreams = Object.entries(document.upstreams).flatMap(([name, { timeouts }]) => {
      const path = ['upstreams', name, 'timeouts']
      const isOff = parseDuration(timeouts.total) === 0
      return [
        ...(isOff
          ? [
              finding(
                [...path, 'total'],
                'requests have no total timeout',
                'set for example 60s, and use 0s only on routes that stream',
              ),
            ]
          : []),
        ...(['connect', 'headers', 'idle'] as const)
          .filter((key) => parseDuration(timeouts[key]) > LONG_MS)
          .map((key) =>
            finding(
              [...path, key],
              `a hanging target holds a request for ${timeouts[key]}`,
              'write at most 10m',
            ),
          ),
      ]
    })
    const listeners = origins
      .entries(document.listeners, ['listeners'])
      .flatMap(([{ limits }, path]) => [
        ...(['minBodyRate', 'minReadRate'] as const)
          .filter((key) => parseSize(limits[key]) === 0)
          .map((key) =>
            finding(
              [...path, 'limits', key],
              'slow clients can hold connections open',
              'remove it, or write for example 240b',
            ),
          ),
        ...(parseSize(limits.bodyBytes) > LARGE_BYTES
          ? [
              finding(
                [...path, 'limits', 'bodyBytes'],
                `any client can send bodies of up to ${limits.bodyBytes}`,
                'write at most 1gb, and use body-limit on the routes that need more',
              ),
            ]
          : []),
      ])
    return [...upstreams, ...listeners].filter(({ path }) => isWritten(path, subject))
  },
}

function finding(path: DocumentPath, message: string, remedy: string): RuleFinding {
  return { path, message, remedy }
}

function isWritten(path: DocumentPath, { written }: LintSubject): boolean {
  return valueAt(written, path) !== undefined
}
