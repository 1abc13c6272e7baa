import { compileCondition } from '../../condition/index.js'
import { decisionOf, routeChains } from './chains.js'
import type { LintRule, LintSubject, RuleFinding } from './rule.js'

/** Reports conditions that are always false, and policies after one that answers every request. */
export const neverRuns: LintRule = {
  id: 'never-runs',
  severity: 'warning',
  title: 'A policy or route never runs.',
  why: 'A condition without a reference to the request has the same result for every request. After a policy that answers every request, such as `mock` or `maintenance`, no other policy sees the request. Use `enabled: false` to disable a policy.',
  bad: `routes:
  - id: orders
    match: { path: /orders }
    respond: {}
    policies:
      - { use: mock, with: { body: soon } }
      - { use: ip-filter, with: { allow: [10.0.0.0/8] } }
`,
  good: `routes:
  - id: orders
    match: { path: /orders }
    respond: {}
    policies:
      - { use: ip-filter, with: { allow: [10.0.0.0/8] } }
      - { use: mock, with: { body: soon } }
`,
  check(subject) {
    const findings: RuleFinding[] = []
    for (const { route, path, chain } of routeChains(subject)) {
      if (isNever(route.match.when, 'route', subject)) {
        const message = `the route '${route.id}' matches no request: its condition is always false`
        const remedy = 'correct the condition, or remove the route'
        findings.push({ path: [...path, 'match', 'when'], message, remedy })
      }
      let answering: string | null = null
      for (const step of chain) {
        const { policy, path: entry, definition } = step
        const scopes = [entry, definition]
        if (isNever(policy.when, 'policy', subject)) {
          const message = `${policy.use} never runs: its condition is always false`
          const remedy = 'correct the condition, or write enabled: false'
          findings.push({ path: [...definition, 'when'], message, remedy, scopes })
        } else if (answering !== null && !isFirst(policy.use, subject)) {
          const message = `${policy.use} never runs: ${answering} before it answers every request`
          const remedy = `list it before ${answering}, or remove ${answering} or give it a condition`
          findings.push({ path: entry, message, remedy, scopes })
        } else if (policy.when === undefined && decisionOf(step, subject) === 'answer') answering = policy.use
      }
    }
    return findings
  },
}

/** True if the steps of a policy run first in every chain. */
function isFirst(use: string, { catalog }: LintSubject): boolean {
  return catalog.get(use)?.answersPreflights === true
}

function isNever(when: string | undefined, scope: 'route' | 'policy', { catalog }: LintSubject): boolean {
  if (when === undefined) return false
  try {
    return compileCondition(when, scope, { bodies: catalog.bodies }).constant === false
  } catch {
    // Its query language is not loaded, so the condition reads the body.
    return false
  }
}
