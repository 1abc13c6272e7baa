import type { Catalog } from '@sluice/core'
import type { Scenario, Suite } from '../model/scenario.js'
import { POLICY_FIXTURES, type PolicyFixture } from './policy-fixtures.js'
import { ECHO, get, KB, PLAIN_ROUTES, post, SMALL_ANSWER } from './scenario-parts.js'

/** The connections of the suite: enough to keep one worker busy, few enough that no queue hides what a policy costs. */
const CONNECTIONS = [64]

/** What a scenario with a policy is compared with. */
export const BASE = 'base'

/** What stands together in front of real services, in the order in which it runs. */
const CHAINS: readonly (readonly string[])[] = [
  ['api-key', 'body-limit', 'header'],
  ['ip-filter', 'basic-auth', 'header'],
  ['ip-filter', 'api-key', 'body-limit', 'header'],
]

/** The scenarios that tell what one policy costs. */
export interface PolicyPair {
  readonly base: Scenario
  readonly withPolicy: Scenario
}

/** One scenario without a policy for each kind of call, then every policy of the catalog that has a fixture, alone, then the chains. */
export function policiesSuite(catalog: Catalog): Suite {
  const scenarios = [
    scenarioOf(BASE, [], false),
    scenarioOf(BASE, [], true),
    ...measuredPolicies(catalog).map(([name, fixture]) => scenarioOf(name, [fixture], fixture.needsBody)),
    ...CHAINS.flatMap((names) => {
      const fixtures = names.flatMap((name) => fixtureOf(name, catalog))
      return fixtures.length < names.length ? [] : [scenarioOf(`chain-${names.join('-')}`, fixtures, true)]
    }),
  ]
  return {
    name: 'policies',
    description:
      'what each policy adds to a request: every policy alone and in three chains, and the same call without one',
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
    base: scenarioOf(BASE, [], fixture.needsBody),
    withPolicy: scenarioOf(name, [fixture], fixture.needsBody),
  }
}

/** The names that `policyPair` knows. */
export function measuredPolicyNames(catalog: Catalog): string[] {
  return measuredPolicies(catalog).map(([name]) => name)
}

function measuredPolicies(catalog: Catalog): [string, PolicyFixture][] {
  return [...POLICY_FIXTURES].filter(([name]) => catalog.has(name))
}

function fixtureOf(name: string, catalog: Catalog): PolicyFixture[] {
  return measuredPolicies(catalog).flatMap(([measured, fixture]) => (measured === name ? [fixture] : []))
}

function scenarioOf(name: string, fixtures: readonly PolicyFixture[], hasBody: boolean): Scenario {
  const headers = Object.assign({}, ...fixtures.map((fixture) => fixture.headers)) as PolicyFixture['headers']
  const policies = fixtures.length === 0 ? {} : { policies: fixtures.map(({ use }) => use) }
  const what = fixtures.length > 1 ? `${fixtures[0]!.use.use} and ${fixtures.length - 1} more` : name
  return {
    id: `${name}-${hasBody ? 'post-1kb' : 'get'}`,
    title: `${hasBody ? 'POST 1 KB' : 'GET'}, ${fixtures.length === 0 ? 'no policy' : what}`,
    tier: null,
    workers: 1,
    log: 'none',
    call: hasBody ? post(KB, '/', headers) : get('/', headers),
    origin: hasBody ? ECHO : SMALL_ANSWER,
    routes: PLAIN_ROUTES.map((route) => ({ ...route, ...policies })),
    peers: fixtures.length === 0 ? 'plain-proxy' : null,
  }
}
