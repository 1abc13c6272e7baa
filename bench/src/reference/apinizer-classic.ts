import { published, type Reference, type ReferencePoint } from './reference-point.js'

/** Threads, requests a second, mean response time in milliseconds. */
type Row = readonly [users: number, perSecond: number, meanMs: number]

interface Curve {
  readonly condition: 'a' | 'b' | 'c' | 'd'
  readonly bodyBytes: number
  readonly hasBasicAuth: boolean
  readonly rows: readonly Row[]
}

const KB = 1024

const GET: readonly Curve[] = [
  curve('a', 0, [
    [50, 1133, 43],
    [100, 1100, 90],
    [250, 1025, 242],
    [500, 963, 516],
  ]),
  curve('b', 0, [
    [50, 2232, 22],
    [100, 2169, 45],
    [250, 2089, 119],
    [500, 1915, 259],
    [1000, 1762, 564],
    [1500, 1631, 915],
    [2000, 1379, 1441],
  ]),
  curve('c', 0, [
    [50, 8090, 6],
    [100, 7816, 12],
    [250, 7011, 35],
    [500, 6759, 73],
    [1000, 6742, 147],
    [1500, 6683, 223],
    [2000, 6692, 297],
    [4000, 6448, 617],
  ]),
  curve('d', 0, [
    [50, 15_420, 3],
    [100, 15_812, 6],
    [250, 15_614, 15],
    [500, 15_664, 31],
    [1000, 15_454, 64],
    [1500, 15_026, 99],
    [2000, 14_839, 133],
    [4000, 14_356, 276],
    [8000, 11_603, 655],
  ]),
]

const POST_5KB: readonly Curve[] = [
  curve('a', 5 * KB, [
    [50, 1002, 49],
    [100, 983, 101],
    [250, 852, 292],
  ]),
  curve('b', 5 * KB, [
    [50, 1868, 26],
    [100, 1768, 56],
    [250, 1456, 170],
    [500, 1398, 355],
    [1000, 1229, 809],
    [1500, 1199, 1245],
  ]),
  curve('c', 5 * KB, [
    [50, 7353, 6],
    [100, 7257, 13],
    [250, 7138, 34],
    [500, 7141, 69],
    [1000, 7011, 141],
    [1500, 6935, 215],
  ]),
  curve('d', 5 * KB, [
    [50, 13_396, 3],
    [100, 13_482, 7],
    [250, 13_587, 18],
    [500, 13_611, 36],
    [1000, 13_562, 73],
    [1500, 13_208, 112],
    [2000, 13_179, 150],
    [4000, 12_792, 309],
    [8000, 11_115, 701],
  ]),
]

const POST_50KB: readonly Curve[] = [
  curve('a', 50 * KB, [
    [50, 675, 73],
    [100, 653, 152],
    [250, 554, 448],
  ]),
  curve('b', 50 * KB, [
    [50, 1437, 34],
    [100, 1409, 70],
    [250, 1223, 203],
    [500, 1149, 432],
    [1000, 877, 1134],
  ]),
  curve('c', 50 * KB, [
    [50, 4679, 10],
    [100, 4675, 21],
    [250, 4020, 61],
    [500, 3221, 154],
    [1000, 2962, 335],
  ]),
  curve('d', 50 * KB, [
    [50, 4683, 10],
    [100, 4671, 21],
    [250, 4382, 56],
    [500, 3496, 142],
    [1000, 3046, 326],
    [1500, 2853, 522],
    [2000, 2794, 710],
  ]),
]

const BASIC_AUTH: Curve = {
  condition: 'd',
  bodyBytes: 0,
  hasBasicAuth: true,
  rows: [
    [50, 14_760, 3],
    [100, 14_843, 6],
    [250, 14_891, 16],
    [500, 14_748, 33],
    [1000, 14_285, 68],
    [1500, 14_373, 102],
    [2000, 14_280, 136],
    [4000, 13_795, 279],
    [8000, 11_437, 672],
  ],
}

/** The older test of Apinizer: conditions A to D are configurations that grow more capable. */
export const APINIZER_CLASSIC: Reference = {
  suite: 'apinizer-classic',
  product: 'Apinizer gateway (older test)',
  hardware:
    '16 vCPU Intel Xeon Scalable 2.5 GHz, 32 GB, NGINX in front, machines of their own for load and log',
  measuredWith: 'JMeter, closed loop, means only, traffic log on',
  points: [...GET, BASIC_AUTH, ...POST_5KB, ...POST_50KB].flatMap(pointsOf),
}

function curve(condition: Curve['condition'], bodyBytes: number, rows: readonly Row[]): Curve {
  return { condition, bodyBytes, hasBasicAuth: false, rows }
}

function pointsOf({ condition, bodyBytes, hasBasicAuth, rows }: Curve): ReferencePoint[] {
  const request = bodyBytes === 0 ? 'get' : `post-${bodyBytes / KB}kb`
  return rows.map(([users, perSecond, mean]) => ({
    scenario: `${condition}-${hasBasicAuth ? 'basic-auth-' : ''}${request}`,
    cpus: 16,
    log: 'elasticsearch',
    method: bodyBytes === 0 ? 'GET' : 'POST',
    bodyBytes,
    users,
    kind: 'saturation',
    perSecond,
    latency: published({ mean }),
  }))
}
