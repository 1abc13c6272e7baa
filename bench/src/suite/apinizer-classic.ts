import type { Suite } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { POLICY_FIXTURES } from './policy-fixtures.js'
import { get, KB, post, scenario, size, withPolicies } from './scenario-parts.js'

const SIZES = [size(5 * KB, 5, 'KB'), size(50 * KB, 50, 'KB')]

/** A configuration, with the largest numbers of connections in the report for GET, POST 5 KB and POST 50 KB. */
type Condition = readonly [
  id: string,
  title: string,
  tier: Tier,
  policies: readonly string[],
  most: readonly number[],
]

const STEPS = [50, 100, 250, 500, 1000, 1500, 2000, 4000, 8000]

/**
 * The report describes its configurations in words only: minimal without policies, medium with basic ones, advanced
 * with several, and optimised, the base of its Basic authentication runs. Sizes and policies are our choice.
 */
const CONDITIONS: readonly Condition[] = [
  ['a', 'A (minimal)', 'W1', [], [500, 250, 250]],
  ['b', 'B (basic policies)', 'W2', ['header', 'body-limit'], [2000, 1500, 1000]],
  ['c', 'C (several policies)', 'W4', ['ip-filter', 'api-key', 'body-limit', 'header'], [4000, 1500, 1000]],
  ['d', 'D (optimised)', 'W8', [], [8000, 8000, 2000]],
  ['d-basic-auth', 'D with Basic auth', 'W8', ['basic-auth'], [8000, 8000, 2000]],
]

/** The older Apinizer report: configurations A to D, 50 to 8,000 connections, Basic authentication off and on. */
export const apinizerClassic: Suite = {
  name: 'apinizer-classic',
  description:
    'configurations A to D, GET, POST 5 KB and POST 50 KB, 50 to 8,000 connections, Basic auth off and on',
  reproduces: 'Apinizer load test results (the older report, JMeter and NGINX)',
  cases: CONDITIONS.flatMap(([id, title, tier, policies, most]) => {
    const fixtures = policies.map((name) => POLICY_FIXTURES.get(name)!)
    const headers: Record<string, string> = Object.assign({}, ...fixtures.map((fixture) => fixture.headers))
    const requests = [
      { id: 'get', title: 'GET', call: get('/', headers) },
      ...SIZES.map((named) => {
        const call = post(named.bytes, '/', headers)
        return { id: `post-${named.id}`, title: `POST ${named.title}`, call }
      }),
    ]
    return requests.map((request, i) => ({
      scenario: scenario(`${id}-${request.id}`, `${title}: ${request.title}`, request.call, {
        ...{ tier, ...withPolicies(fixtures.map(({ use }) => use)) },
      }),
      connections: STEPS.filter((step) => step <= most[i]!),
    }))
  }),
  warmUpSeconds: 30,
  seconds: 180,
  repetitions: 3,
}
