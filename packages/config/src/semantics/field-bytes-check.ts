import { isIssue } from '../diagnostic/issue.js'
import { isLoopback, parseAddress } from '../grammar/address.js'
import type { Document, PolicyDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/**
 * Warns if routes or policies depend on header values, but a public listener uses an engine that silently
 * strips bytes from the ends of values.
 */
export function checkFieldBytes({ document, origins, report }: Inspection): void {
  if (!decidesByFields(document)) return
  for (const [{ address, engine }, path] of origins.entries(document.listeners, ['listeners'])) {
    const parsed = parseAddress(address)
    if (engine !== 'uws' || isIssue(parsed) || isLoopback(parsed.host)) continue
    report.add({
      severity: 'warning',
      rule: 'engine-limits',
      path: [...path, 'address'],
      message:
        'routes or policies depend on header values, but engine: uws strips bytes of 0x80 and above from both ends of values',
      remedy: 'use engine: node if untrusted clients can reach this listener (docs/guides/engines.md)',
    })
  }
}

function decidesByFields({ routes, policies, policyGroups }: Document): boolean {
  if (routes.some(({ match }) => Object.keys(match.headers).length > 0 || asksField(match.when))) return true
  const chains = [policies, ...Object.values(policyGroups), ...routes.map((route) => route.policies)]
  return chains.some((chain) =>
    chain.some((entry: string | PolicyDocument) => typeof entry !== 'string' && asksField(entry.when)),
  )
}

function asksField(condition: string | undefined): boolean {
  return condition?.includes('req.header') === true
}
