import type { Catalog } from '@sluice/core'
import type { Call, Scenario, Suite, SuiteCase } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { FIRST_SYMBOL, REQUEST_STYLESHEET, RESPONSE_STYLESHEET, SYMBOL_XPATH } from './orders.js'
import { ECHO, size } from './scenario-parts.js'

const USERS = [100, 200, 500, 1000]
/** The report counts in thousands. */
const SIZES = [size(500, 500, 'B'), size(1000, 1, 'KB'), size(10_000, 10, 'KB'), size(100_000, 100, 'KB')]

/** One of the four services of the report. */
interface Service {
  readonly id: string
  readonly title: string
  readonly path: string
  readonly isPlainProxy: boolean
  readonly routes: readonly object[]
  /** Whether the gateway of this version can do it. */
  isThere(catalog: Catalog): boolean
}

const DIRECT: Service = {
  id: 'direct',
  title: 'direct proxy',
  path: '/services/DirectProxy',
  isPlainProxy: true,
  routes: [{ id: 'direct', match: { path: '/services/DirectProxy' }, upstream: 'origin' }],
  isThere: () => true,
}

const DIRECT_API: Service = {
  id: 'direct-api',
  title: 'direct API',
  path: '/directapi/stocks',
  isPlainProxy: true,
  routes: [
    {
      id: 'direct-api',
      match: { path: '/directapi/*', methods: ['POST'] },
      rewrite: { prefix: '/' },
      upstream: 'origin',
    },
  ],
  isThere: () => true,
}

/** The first symbol decides; a message with another one has no route. */
const CONTENT_BASED: Service = {
  id: 'cbr',
  title: 'content-based routing',
  path: '/services/CBRProxy',
  isPlainProxy: false,
  routes: [
    {
      id: 'cbr',
      match: { path: '/services/CBRProxy', when: `req.body.xml("${SYMBOL_XPATH}") == "${FIRST_SYMBOL}"` },
      upstream: 'origin',
    },
  ],
  isThere: (catalog) => catalog.bodies !== undefined,
}

/** Two runs for each call: one on the way there and one on the way back. */
const XSLT: Service = {
  id: 'xslt',
  title: 'XSLT',
  path: '/services/XSLTProxy',
  isPlainProxy: false,
  routes: [
    {
      id: 'xslt',
      match: { path: '/services/XSLTProxy' },
      upstream: 'origin',
      policies: [
        { use: 'xslt', with: { phase: 'request', stylesheet: { inline: REQUEST_STYLESHEET } } },
        { use: 'xslt', with: { phase: 'response', stylesheet: { inline: RESPONSE_STYLESHEET } } },
      ],
    },
  ],
  isThere: (catalog) => catalog.has('xslt'),
}

/**
 * The report of WSO2 Micro Integrator 4.5: four services on two CPUs in front of an origin that echoes. Content-based
 * routing and XSLT join when the gateway can do them.
 */
export function wso2MiSuite(catalog: Catalog): Suite {
  const services = [DIRECT, DIRECT_API, CONTENT_BASED, XSLT].filter((service) => service.isThere(catalog))
  return {
    name: 'wso2-mi',
    description: `${services.map(({ title }) => title).join(', ')} on 2 CPUs (on 1 with --tier W1), 500 B to 100 KB, the origin echoes`,
    reproduces: 'WSO2 Micro Integrator 4.5.0 performance test',
    cases: services.flatMap((service) => casesOf(service, { tier: 'W2', workers: 2, suffix: '' })),
    variants: services.flatMap((service) => casesOf(service, { tier: 'W1', workers: 1, suffix: '-w1' })),
    warmUpSeconds: 120,
    seconds: 180,
    repetitions: 3,
  }
}

/** The report's two cores, or one, on which a smaller machine can measure too. */
interface Cores {
  readonly tier: Tier
  readonly workers: number
  readonly suffix: string
}

function casesOf(service: Service, cores: Cores): SuiteCase[] {
  return SIZES.map((named) => ({ scenario: scenarioOf(service, named, cores), connections: USERS }))
}

function scenarioOf(
  service: Service,
  { bytes, id, title }: (typeof SIZES)[number],
  { tier, workers, suffix }: Cores,
): Scenario {
  const call: Call = {
    method: 'POST',
    path: service.path,
    headers: { 'content-type': 'text/xml' },
    body: { kind: 'xml', bytes },
  }
  return {
    id: `${service.id}-${id}${suffix}`,
    title: workers === 1 ? `${service.title} ${title}, one core` : `${service.title} ${title}`,
    tier,
    workers,
    log: 'none',
    call,
    origin: ECHO,
    routes: service.routes,
    isPlainProxy: service.isPlainProxy,
  }
}
