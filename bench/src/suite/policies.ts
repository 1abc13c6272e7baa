import type { Catalog } from '@sluice/core'
import type { Scenario, Suite } from '../model/scenario.js'
import { POLICY_FIXTURES, type PolicyFixture } from './policy-fixtures.js'
import { ECHO, get, KB, PLAIN_ROUTES, post, SMALL_ANSWER } from './scenario-parts.js'

/** The connections of the suite: enough to keep one worker busy, few enough that no queue hides what a policy costs. */
const CONNECTIONS = [64]

/** What a scenario with a policy is compared with. */
export const BASE = 'base'

/** The scenarios that tell what one policy costs. */
export interface PolicyPair {
  readonly base: Scenario
  readonly withPolicy: Scenario
}

/** One scenario without a policy for each kind of call, then every policy of the catalog that has a fixture, alone. */
export function policiesSuite(catalog: Catalog): Suite {
  const scenarios = [
    scenarioOf(BASE, null, false),
    scenarioOf(BASE, null, true),
    ...measuredPolicies(catalog).map(([name, fixture]) => scenarioOf(name, fixture, fixture.needsBody)),
  ]
  return {
    name: 'policies',
    description: 'what each policy adds to a request: every policy alone, and the same call without one',
    reproduces: null,
    cases: scenarios.map((scenario) => ({ scenario, connections: CONNECTIONS })),
    warmUpSeconds: 10,
    seconds: 60,
    repetitions: 5,
  }
}

/** The two scenarios of a policy; null: it has no fixture, or is not in this version. */
export function policyPair(name: string, catalog: Catalog): PolicyPair | null {
  const found = measuredPolicies(catalog).find(([measured]) => measured === name)
  if (found === undefined) return null
  const [, fixture] = found
  return {
    base: scenarioOf(BASE, null, fixture.needsBody),
    withPolicy: scenarioOf(name, fixture, fixture.needsBody),
  }
}

/** The names that `policyPair` knows. */
export function measuredPolicyNames(catalog: Catalog): string[] {
  return measuredPolicies(catalog).map(([name]) => name)
}

function measuredPolicies(catalog: Catalog): [string, PolicyFixture][] {
  return [...POLICY_FIXTURES].filter(([name]) => catalog.has(name))
}

function scenarioOf(name: string, fixture: PolicyFixture | null, hasBody: boolean): Scenario {
  const headers = fixture?.headers ?? {}
  const policies = fixture === null ? {} : { policies: [fixture.use] }
  return {
    id: `${name}-${hasBody ? 'post-1kb' : 'get'}`,
    title: `${hasBody ? 'POST 1 KB' : 'GET'}, ${fixture === null ? 'no policy' : name}`,
    tier: null,
    workers: 1,
    log: 'none',
    call: hasBody ? post(KB, '/', headers) : get('/', headers),
    origin: hasBody ? ECHO : SMALL_ANSWER,
    routes: PLAIN_ROUTES.map((route) => ({ ...route, ...policies })),
    peers: fixture === null ? 'plain-proxy' : null,
  }
}
