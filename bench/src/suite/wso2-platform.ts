import type { Suite, SuiteCase } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { POLICY_FIXTURES } from './policy-fixtures.js'
import { KB, post, scenario, size, withPolicies } from './scenario-parts.js'

const USERS = [10, 50, 100, 500, 800, 1000]
const SIZES = [size(50, 50, 'B'), size(KB, 1, 'KiB'), size(10 * KB, 10, 'KiB'), size(100 * KB, 100, 'KiB')]

const ROUTES = 'accounts customers inventory invoices orders payments products shipments'
  .split(' ')
  .map((id) => ({ id, match: { path: `/shop/v1/${id}/{id}`, methods: ['GET', 'POST'] }, upstream: 'origin' }))

const VARIANTS = [
  { id: '', title: '', policies: [] },
  { id: '-set-header', title: ', set header both ways', policies: [POLICY_FIXTURES.get('header')!.use] },
]

/** The report of the WSO2 API Platform gateway: an API of eight resources, with and without one header set each way. */
export const wso2Platform: Suite = {
  name: 'wso2-platform',
  description:
    'an API of eight resources on 2 and 4 CPUs (on 1 with --tier W1), 50 B to 100 KiB, with and without a header set both ways',
  reproduces: 'WSO2 API Platform gateway 1.1.0 performance test',
  cases: [...casesOf('W2'), ...casesOf('W4')],
  // Variants for machines with fewer cores.
  variants: casesOf('W1'),
  warmUpSeconds: 60,
  seconds: 300,
  repetitions: 3,
}

function casesOf(tier: Tier): SuiteCase[] {
  return SIZES.flatMap(({ bytes, id, title }) =>
    VARIANTS.map((variant) => ({
      scenario: scenario(
        `${tier.toLowerCase()}-${id}${variant.id}`,
        `${tier} ${title}${variant.title}`,
        post(bytes, '/shop/v1/orders/1042'),
        { tier, ...withPolicies(variant.policies, ROUTES) },
      ),
      connections: USERS,
    })),
  )
}
