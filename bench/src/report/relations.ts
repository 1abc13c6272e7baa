import { OURS } from '../model/run.js'
import type { Point } from '../model/summary.js'
import { POLICY_FIXTURES } from '../suite/policy-fixtures.js'

/** A policy, and the same scenario without it. */
export interface PolicyRelation {
  readonly policy: string
  readonly base: string
}

/** Policy names that occur in scenario ids of suites other than `policies`. */
const POLICY_WORDS = ['set-header', 'basic-auth']

/** Returns the policy that a scenario measures, or null for none or several. */
export function policyRelation({ suite, scenario }: Point): PolicyRelation | null {
  if (suite === 'policies') {
    const [, policy, request] = /^(.+)-((?:get|post|put)(?:-.+)?)$/.exec(scenario) ?? []
    if (policy === undefined || policy === 'base') return null
    // The base scenario's name contains the kind of a body other than JSON.
    const kind = POLICY_FIXTURES.get(policy)?.body ?? 'json'
    const base = kind === 'json' ? request! : request!.replace(/^post-[^-]+/, `$&-${kind}`)
    return { policy, base: `base-${base}` }
  }
  const policy = POLICY_WORDS.find((word) => scenario.includes(`-${word}`))
  return policy === undefined ? null : { policy, base: scenario.replace(`-${policy}`, '') }
}

/** Scenarios that do more than proxy without measuring a single policy. */
const COMPOUND: Readonly<Record<string, RegExp>> = {
  'apinizer-classic': /^[bc]-/,
  'wso2-mi': /^(?:cbr|xslt)-/,
  'apinizer-cache': /^/,
  proxy: /^cached-/,
}

/** True if a scenario only proxies requests. */
export function isPlainProxy(point: Point): boolean {
  return policyRelation(point) === null && COMPOUND[point.suite]?.test(point.scenario) !== true
}

/** Returns the id of the same scenario without the traffic log. */
export function withoutLog({ scenario }: Point): string {
  return scenario.replace('-elasticsearch', '')
}

/** Returns a key that scenarios share if they differ only in tier and log. */
export function familyOf(point: Point): string {
  return withoutLog(point).replace(`${point.tier?.toLowerCase()}-`, '')
}

/** Returns the systems of a run, ours first, then by name, so that each has the same colour in all charts. */
export function systemsOf(points: readonly Point[]): string[] {
  const names = [...new Set(points.map(({ system }) => system))].sort()
  return names.includes(OURS) ? [OURS, ...names.filter((name) => name !== OURS)] : names
}

/** Groups items by key, in order of first appearance. */
export function groupedBy<T>(list: readonly T[], keyOf: (one: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return [...groups.values()]
}
