import { OURS } from '../model/run.js'
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
    // The kind of a body that is no JSON stands in the name of the request without the policy.
    const kind = POLICY_FIXTURES.get(policy)?.body ?? 'json'
    const base = kind === 'json' ? request! : request!.replace(/^post-[^-]+/, `$&-${kind}`)
    return { policy, base: `base-${base}` }
  }
  const policy = POLICY_WORDS.find((word) => scenario.includes(`-${word}`))
  return policy === undefined ? null : { policy, base: scenario.replace(`-${policy}`, '') }
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

/** What scenarios have in common that differ in their tier and log only. */
export function familyOf(point: Point): string {
  return withoutLog(point).replace(`${point.tier?.toLowerCase()}-`, '')
}

/** The systems of a run, ours first, then the others by name: each has the same colour in every chart. */
export function systemsOf(points: readonly Point[]): string[] {
  const names = [...new Set(points.map(({ system }) => system))].sort()
  return names.includes(OURS) ? [OURS, ...names.filter((name) => name !== OURS)] : names
}

/** Things by what a key says of them, in the order of their first. */
export function groupedBy<T>(list: readonly T[], keyOf: (one: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return [...groups.values()]
}
