import type { Point } from '../model/summary.js'
import { POLICY_FIXTURES } from '../suite/policy-fixtures.js'

/** A policy, and the scenario that is the same without it. */
export interface PolicyRelation {
  readonly policy: string
  readonly base: string
}

/** What suites other than `policies` put into the id of a scenario for a policy. */
const POLICY_WORDS = ['set-header', 'basic-auth']

/** Which policy a scenario measures; null: none, or several at once. */
export function policyRelation({ suite, scenario }: Point): PolicyRelation | null {
  if (suite === 'policies') {
    const [, policy, request] = /^(.+)-((?:get|post|put)(?:-.+)?)$/.exec(scenario) ?? []
    if (policy === undefined || policy === 'base') return null
    return { policy, base: `base-${withKind(request!, policy)}` }
  }
  const policy = POLICY_WORDS.find((word) => scenario.includes(`-${word}`))
  return policy === undefined ? null : { policy, base: scenario.replace(`-${policy}`, '') }
}

/** What the same request without the policy is called: the kind of a body that is no JSON stands in its name. */
function withKind(request: string, policy: string): string {
  const kind = POLICY_FIXTURES.get(policy)?.body ?? 'json'
  return kind === 'json' ? request : request.replace(/^post-[^-]+/, `$&-${kind}`)
}

/** Scenarios that do more than pass requests on, though they measure no single policy. */
const COMPOUND: Readonly<Record<string, RegExp>> = {
  'apinizer-classic': /^[bc]-/,
  'wso2-mi': /^(?:cbr|xslt)-/,
}

/** Whether a scenario passes requests on and does nothing else. */
export function isPlainProxy(point: Point): boolean {
  return policyRelation(point) === null && COMPOUND[point.suite]?.test(point.scenario) !== true
}

/** The scenario that is the same with the traffic log off; the scenario itself when it is off. */
export function withoutLog({ scenario }: Point): string {
  return scenario.replace('-elasticsearch', '')
}

/** What scenarios have in common that differ in their tier only; null: the scenario has no tier. */
export function tierFamily({ tier, scenario }: Point): string | null {
  return tier === null ? null : scenario.replace(`${tier.toLowerCase()}-`, '')
}

/** Points by what a key says of them, in the order of their first. */
export function groupedBy(
  points: readonly Point[],
  keyOf: (point: Point) => string,
): ReadonlyMap<string, readonly Point[]> {
  const groups = new Map<string, Point[]>()
  for (const point of points) {
    const key = keyOf(point)
    groups.set(key, [...(groups.get(key) ?? []), point])
  }
  return groups
}
