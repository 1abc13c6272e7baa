import type { Catalog } from '@sluice/core'
import type { Call, Scenario, Suite } from '../model/scenario.js'
import { canLoad } from './document.js'
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
  readonly isPlain: boolean
  readonly routes: readonly object[]
  /** Whether the gateway of this version can do it. */
  isThere(catalog: Catalog): boolean
}

const DIRECT: Service = {
  id: 'direct',
  title: 'direct proxy',
  path: '/services/DirectProxy',
  isPlain: true,
  routes: [{ id: 'direct', match: { path: '/services/DirectProxy' }, upstream: 'origin' }],
  isThere: () => true,
}

const DIRECT_API: Service = {
  id: 'direct-api',
  title: 'direct API',
  path: '/directapi/stocks',
  isPlain: true,
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
  isPlain: false,
  routes: [
    {
      id: 'cbr',
      match: { path: '/services/CBRProxy', when: `req.body.xml("${SYMBOL_XPATH}") == "${FIRST_SYMBOL}"` },
      upstream: 'origin',
    },
  ],
  isThere: (catalog) => canLoad(CONTENT_BASED.routes, catalog),
}

/** Two runs for each call: one on the way there and one on the way back. */
const XSLT: Service = {
  id: 'xslt',
  title: 'XSLT',
  path: '/services/XSLTProxy',
  isPlain: false,
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
    description: `${services.map(({ title }) => title).join(', ')} on 2 CPUs, 500 B to 100 KB, the origin echoes`,
    reproduces: 'WSO2 Micro Integrator 4.5.0 performance test',
    cases: services.flatMap((service) =>
      SIZES.map((named) => ({ scenario: scenarioOf(service, named), connections: USERS })),
    ),
    warmUpSeconds: 120,
    seconds: 180,
    repetitions: 3,
  }
}

function scenarioOf(service: Service, { bytes, id, title }: (typeof SIZES)[number]): Scenario {
  const call: Call = {
    method: 'POST',
    path: service.path,
    headers: { 'content-type': 'text/xml' },
    body: { kind: 'xml', bytes },
  }
  return {
    id: `${service.id}-${id}`,
    title: `${service.title} ${title}`,
    tier: 'W2',
    workers: 2,
    log: 'none',
    call,
    origin: ECHO,
    routes: service.routes,
    peers: service.isPlain ? 'plain-proxy' : null,
  }
}
