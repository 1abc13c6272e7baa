import type { Suite, SuiteCase } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { FIRST_SYMBOL, REQUEST_STYLESHEET, RESPONSE_STYLESHEET, SYMBOL_XPATH } from './orders.js'
import { post, scenario, size } from './scenario-parts.js'

const USERS = [100, 200, 500, 1000]
/** Sizes in powers of ten, as in the report. */
const SIZES = [size(500, 500, 'B'), size(1000, 1, 'KB'), size(10_000, 10, 'KB'), size(100_000, 100, 'KB')]

/** The four services of the report. */
const SERVICES = [
  { id: 'direct', title: 'direct proxy', path: '/services/DirectProxy', isPlainProxy: true, route: {} },
  {
    ...{ id: 'direct-api', title: 'direct API', path: '/directapi/stocks', isPlainProxy: true },
    route: { match: { path: '/directapi/*', methods: ['POST'] }, rewrite: { prefix: '/' } },
  },
  {
    ...{ id: 'cbr', title: 'content-based routing', path: '/services/CBRProxy', isPlainProxy: false },
    // The first symbol selects the route. Other messages have no route.
    route: {
      match: { path: '/services/CBRProxy', when: `req.body.xml("${SYMBOL_XPATH}") == "${FIRST_SYMBOL}"` },
    },
  },
  {
    ...{ id: 'xslt', title: 'XSLT', path: '/services/XSLTProxy', isPlainProxy: false },
    // Two transformations per request, one each way.
    route: {
      policies: [
        { use: 'xslt', with: { phase: 'request', stylesheet: { inline: REQUEST_STYLESHEET } } },
        { use: 'xslt', with: { phase: 'response', stylesheet: { inline: RESPONSE_STYLESHEET } } },
      ],
    },
  },
]

/** The report of WSO2 Micro Integrator 4.5: four services on two CPUs with an echoing origin. */
export const wso2Mi: Suite = {
  name: 'wso2-mi',
  description: `${SERVICES.map(({ title }) => title).join(', ')} on 2 CPUs (on 1 with --tier W1), 500 B to 100 KB, the origin echoes`,
  reproduces: 'WSO2 Micro Integrator 4.5.0 performance test',
  cases: casesOf('W2', '', ''),
  // Variants for machines with fewer cores.
  variants: casesOf('W1', '-w1', ', one core'),
  warmUpSeconds: 120,
  seconds: 180,
  repetitions: 3,
}

function casesOf(tier: Tier, idSuffix: string, titleSuffix: string): SuiteCase[] {
  return SERVICES.flatMap(({ id, title, path, isPlainProxy, route }) =>
    SIZES.map((named) => ({
      scenario: scenario(
        `${id}-${named.id}${idSuffix}`,
        `${title} ${named.title}${titleSuffix}`,
        post({ kind: 'xml', bytes: named.bytes }, path),
        { tier, isPlainProxy, routes: [{ id, match: { path }, upstream: 'origin', ...route }] },
      ),
      connections: USERS,
    })),
  )
}
