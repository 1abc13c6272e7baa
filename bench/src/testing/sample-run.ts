import { spreadOf } from '../measure/spread.js'
import type { Tier } from '../model/scenario.js'
import type { Point, Summary } from '../model/summary.js'
import { samplePoint, sampleSpectrum, sampleSummary } from './sample-summary.js'

const TIERS: readonly {
  readonly tier: Tier
  readonly workers: number
  readonly connections: readonly number[]
}[] = [
  { tier: 'W1', workers: 1, connections: [100, 250, 500] },
  { tier: 'W2', workers: 2, connections: [250, 500, 750, 1000] },
  { tier: 'W4', workers: 4, connections: [250, 500, 1000, 2000] },
  { tier: 'W8', workers: 8, connections: [250, 500, 1000, 2000, 4000] },
]

const REQUESTS = [
  { id: 'get', title: 'GET', method: 'GET', bodyBytes: 0, micros: 44 },
  { id: 'post-1kb', title: 'POST 1 KB', method: 'POST', bodyBytes: 1024, micros: 52 },
  { id: 'post-5kb', title: 'POST 5 KB', method: 'POST', bodyBytes: 5120, micros: 61 },
] as const

/** A run of the suite `apinizer` as it could be: the same each time, one point of it invalid. */
export function sampleRun(rivals: Readonly<Record<string, number>> = {}): Summary {
  const contestants = Object.entries({ sluice: 1, ...rivals })
  const points = TIERS.flatMap(({ tier, workers, connections }) =>
    REQUESTS.flatMap((request) =>
      connections.flatMap((count) =>
        contestants.flatMap(([contestant, factor]) => {
          const base = { tier, workers, connections: count, contestant }
          const off = saturated({ ...base, micros: request.micros * factor, request, log: 'none' })
          const on = saturated({ ...base, micros: request.micros + 7, request, log: 'elasticsearch' })
          return contestant === 'sluice' ? [off, on, ...(count === 500 ? heldRates(off) : [])] : [off]
        }),
      ),
    ),
  )
  return sampleSummary(
    points.map((point, i) =>
      i === 3 ? { ...point, invalid: ['the generator used 97 % of its core'] } : point,
    ),
  )
}

interface Wish {
  readonly tier: Tier
  readonly workers: number
  readonly connections: number
  readonly contestant: string
  readonly micros: number
  readonly request: (typeof REQUESTS)[number]
  readonly log: Point['log']
}

function saturated({ tier, workers, connections, contestant, micros, request, log }: Wish): Point {
  const crowd = 1 + 0.03 * Math.log2(connections / 100)
  const cost = micros * crowd
  const rate = ((1_000_000 / cost) * workers ** 0.95) / (1 + 20 / connections)
  const suffix = log === 'none' ? '' : '-elasticsearch'
  return samplePoint({
    scenario: `${tier.toLowerCase()}-${request.id}${suffix}`,
    title: `${tier} ${request.title}${log === 'none' ? '' : ', Elasticsearch'}`,
    tier,
    workers,
    connections,
    contestant,
    log,
    method: request.method,
    bodyBytes: request.bodyBytes,
    perSecond: spreadOf([0.985, 1.01, 1.005].map((factor) => rate * factor)),
    cpuMicrosPerRequest: spreadOf([1.01, 0.985, 1.005].map((factor) => cost * factor)),
    requests: Math.round(rate * 180),
    latency: sampleSpectrum((connections / rate) * 1_000_000),
    diagnostics: contestant === 'sluice' ? samplePoint().diagnostics : [],
  })
}

function heldRates(point: Point): Point[] {
  return [0.5, 0.7, 0.8, 0.9].map((share) => {
    const rate = Math.round(point.perSecond.mean * share)
    return {
      ...point,
      kind: 'fixed-rate',
      targetPerSecond: rate,
      perSecond: spreadOf([rate, rate, rate]),
      busyShare: share,
      latency: sampleSpectrum(380 / (1 - share) ** 1.2),
    }
  })
}

const POLICIES = {
  header: 0.6,
  'ip-filter': 0.9,
  'rate-limit': 2.1,
  'api-key': 1.4,
  jwt: 38,
  'json-schema': 17.5,
  'basic-auth': 4.2,
}

/** A run of the suite `policies` as it could be. */
export function samplePolicyRun(): Summary {
  const one = (policy: string, micros: number, request: (typeof REQUESTS)[number]): Point => ({
    ...saturated({
      tier: 'W1',
      workers: 1,
      connections: 64,
      contestant: 'sluice',
      micros: request.micros + micros,
      request,
      log: 'none',
    }),
    suite: 'policies',
    scenario: `${policy}-${request.id}`,
    title: `${request.title}, ${policy === 'base' ? 'no policy' : policy}`,
    tier: null,
  })
  const requests = REQUESTS.slice(0, 2)
  const points = requests.flatMap((request) => [
    one('base', 0, request),
    ...Object.entries(POLICIES).map(([policy, micros]) => one(policy, micros, request)),
  ])
  return sampleSummary(points, {
    suite: 'policies',
    id: '2026-11-21-policies',
    command: 'gw bench run policies',
  })
}
