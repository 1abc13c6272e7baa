import type { Scenario, Suite, SuiteCase } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { HEADER_BOTH_WAYS } from './policy-fixtures.js'
import { ECHO, KB, post, size } from './scenario-parts.js'

const USERS = [10, 50, 100, 500, 800, 1000]
const SIZES = [size(50, 50, 'B'), size(KB, 1, 'KiB'), size(10 * KB, 10, 'KiB'), size(100 * KB, 100, 'KiB')]
/** Those of the report. */
const TIERS: readonly Cores[] = [
  { tier: 'W2', workers: 2 },
  { tier: 'W4', workers: 4 },
]
/** On which a smaller machine can measure too. */
const ONE_CORE: Cores = { tier: 'W1', workers: 1 }

interface Cores {
  readonly tier: Tier
  readonly workers: number
}

const RESOURCES = [
  'accounts',
  'customers',
  'inventory',
  'invoices',
  'orders',
  'payments',
  'products',
  'shipments',
]

const VARIANTS: readonly {
  readonly id: string
  readonly title: string
  readonly policies: readonly object[]
}[] = [
  { id: '', title: '', policies: [] },
  { id: '-set-header', title: ', set header both ways', policies: [HEADER_BOTH_WAYS] },
]

/** The report of the WSO2 API Platform gateway: an API of eight resources, with and without one header set each way. */
export const wso2Platform: Suite = {
  name: 'wso2-platform',
  description:
    'an API of eight resources on 2 and 4 CPUs (on 1 with --tier W1), 50 B to 100 KiB, with and without a header set both ways',
  reproduces: 'WSO2 API Platform gateway 1.1.0 performance test',
  cases: TIERS.flatMap(casesOf),
  variants: casesOf(ONE_CORE),
  warmUpSeconds: 60,
  seconds: 300,
  repetitions: 3,
}

function casesOf({ tier, workers }: Cores): SuiteCase[] {
  return SIZES.flatMap(({ bytes, id, title }) =>
    VARIANTS.map((variant) => {
      const scenario: Scenario = {
        id: `${tier.toLowerCase()}-${id}${variant.id}`,
        title: `${tier} ${title}${variant.title}`,
        tier,
        workers,
        log: 'none',
        call: post(bytes, '/shop/v1/orders/1042'),
        origin: ECHO,
        routes: routesOf(variant.policies),
        isPlainProxy: variant.policies.length === 0,
      }
      return { scenario, connections: USERS }
    }),
  )
}

function routesOf(policies: readonly object[]): object[] {
  return RESOURCES.map((resource) => ({
    id: resource,
    match: { path: `/shop/v1/${resource}/{id}`, methods: ['GET', 'POST'] },
    upstream: 'origin',
    ...(policies.length === 0 ? {} : { policies }),
  }))
}
