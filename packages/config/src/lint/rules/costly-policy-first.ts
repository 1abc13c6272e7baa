import type { ChainStep } from '../../semantics/consumer-check.js'
import { decisionOf, routeChains } from './chains.js'
import type { LintRule, LintSubject, RuleFinding } from './rule.js'

/** Minimum measured cost of a policy that should not run for requests that are refused anyway. */
const COSTLY_MICROS = 10

/** Reports expensive authentication that runs before a cheap policy that refuses requests. */
export const costlyPolicyFirst: LintRule = {
  id: 'costly-policy-first',
  severity: 'warning',
  title: 'An expensive policy runs before a cheap one that refuses requests.',
  why: 'Policies run in the order of the chain. If rate limits and IP filters come first, refused requests cost almost nothing. Otherwise, each request causes a call to another server or a signature check, and a flood of requests overloads that server or the CPU. The costs are measured, as in `gw explain`.',
  bad: `upstreams: { orders: { targets: ['http://10.0.0.1:80'] } }
routes:
  - id: orders
    match: { path: /orders/* }
    upstream: orders
    policies:
      - { use: forward-auth, with: { url: https://auth.example.com/check } }
      - { use: rate-limit, with: { limit: 10/s } }
`,
  good: `upstreams: { orders: { targets: ['http://10.0.0.1:80'] } }
routes:
  - id: orders
    match: { path: /orders/* }
    upstream: orders
    policies:
      - { use: rate-limit, with: { limit: 10/s } }
      - { use: forward-auth, with: { url: https://auth.example.com/check } }
`,
  check(subject) {
    const found = new Map<string, RuleFinding>()
    for (const { chain } of routeChains(subject)) {
      let costly: { readonly step: ChainStep; readonly cost: string } | null = null
      for (const step of chain) {
        const decision = decisionOf(step, subject)
        const cost = decision === 'access' ? costOf(step, subject) : null
        if (costly === null && cost !== null) costly = { step, cost }
        if (costly === null || decision !== 'limit' || dependsOnCaller(step)) continue
        const { policy, path, definition } = step
        const first = costly.step.policy.use
        const message = `${policy.use} runs after ${first}, which ${costly.cost} for each request`
        const remedy = `list ${policy.use} before ${first}, so that refused requests cost little`
        // Routes that share a group share the finding.
        const key = JSON.stringify([costly.step.definition, definition])
        found.set(key, { path, message, remedy, scopes: [path, definition] })
      }
    }
    return [...found.values()]
  },
}

/** Returns the cost of an expensive policy as a verb phrase, or null. */
function costOf({ policy }: ChainStep, { catalog }: LintSubject): string | null {
  if (catalog.get(policy.use)?.cost === 'io') return 'calls another server'
  const micros = catalog.measured?.get(policy.use)?.addedMicros ?? 0
  return micros < COSTLY_MICROS ? null : `takes ${micros} µs of CPU time`
}

/** True if a policy may need the result of an earlier one. */
function dependsOnCaller({ policy }: ChainStep): boolean {
  return policy.when !== undefined || /\b(?:consumer|jwt|claim|vars?)\b/.test(JSON.stringify(policy.with))
}
