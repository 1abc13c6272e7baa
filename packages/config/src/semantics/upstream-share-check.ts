import { parseRatio } from '@sluice/core'
import type { DocumentPath } from '../diagnostic/document-path.js'
import type { UpstreamDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/**
 * Checks that the roles of targets and their sections (canary, mirror) are used together, and the cookie
 * attributes of sticky sessions.
 */
export function checkShares(inspection: Inspection, upstream: UpstreamDocument, path: DocumentPath): void {
  checkRole(inspection, upstream, path, 'canary')
  checkRole(inspection, upstream, path, 'mirror')
  checkFailover(inspection, upstream, path)
  const { report } = inspection
  const { sticky } = upstream
  if (sticky === undefined || sticky.secure || sticky.sameSite !== 'none') return
  report.add({
    path: [...path, 'sticky', 'sameSite'],
    message: 'browsers reject cookies with SameSite=None that are not Secure',
    remedy: 'write secure: true, or sameSite: lax',
  })
}

function checkRole(
  { report }: Inspection,
  upstream: UpstreamDocument,
  path: DocumentPath,
  role: 'canary' | 'mirror',
): void {
  if (!report.isValid([...path, 'targets']) || !report.isValid([...path, role])) return
  const has = upstream.targets.some((target) => typeof target !== 'string' && target.role === role)
  const isWritten = upstream[role] !== undefined
  if (has === isWritten) return
  const name = path.at(-1)
  if (has) {
    report.add({
      path: [...path, 'targets'],
      at: 'key',
      message: `upstream '${name}' has a target with role: ${role}, but no ${role} section`,
      remedy: role === 'canary' ? 'add canary: { percent: 5% }' : 'add mirror: { percent: 100% }',
    })
    return
  }
  report.add({
    path: [...path, role],
    at: 'key',
    message: `${role} has no effect: upstream '${name}' has no target with role: ${role}`,
    remedy: `give a target role: ${role}, or remove ${role}`,
  })
}

/** Warns about keys that have no effect without a failover target. */
function checkFailover(
  { report, origins }: Inspection,
  upstream: UpstreamDocument,
  path: DocumentPath,
): void {
  if (!report.isValid([...path, 'targets'])) return
  const roles = upstream.targets.map((target) => (typeof target === 'string' ? 'primary' : target.role))
  if (parseRatio(upstream.failoverBelow) > 0 && !roles.includes('failover'))
    report.add({
      path: [...path, 'failoverBelow'],
      at: 'key',
      severity: 'warning',
      rule: 'no-effect',
      message: 'failoverBelow has no effect without a target with role: failover',
      remedy: 'give a target role: failover, or remove failoverBelow',
    })
  for (const [target, place] of origins.entries(upstream.targets, [...path, 'targets']))
    if (typeof target !== 'string' && target.role !== 'failover' && target.priority > 1)
      report.add({
        path: [...place, 'priority'],
        at: 'key',
        severity: 'warning',
        rule: 'no-effect',
        message: 'priority has no effect without role: failover',
        remedy: 'write role: failover, or remove priority',
      })
}
