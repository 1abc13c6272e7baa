import { published, type Reference, type ReferencePoint } from './reference-point.js'

/** Users, requests a second, mean, P90, P95 and P99 of the response time in milliseconds. */
type Row = readonly [
  users: number,
  perSecond: number,
  meanMs: number,
  p90Ms: number,
  p95Ms: number,
  p99Ms: number,
]

const PLAIN_2: readonly Row[] = [
  [10, 4676.14, 2.05, 3, 3, 10],
  [50, 5540.17, 8.92, 12, 28, 31],
  [100, 5805.39, 17.12, 34, 37, 42],
  [500, 5374.3, 92.85, 110, 116, 142],
  [800, 5063.14, 157.79, 185, 193, 211],
  [1000, 5217.19, 191.44, 229, 246, 269],
]

const SET_HEADER_2: readonly Row[] = [
  [10, 4236.1, 2.27, 3, 3, 12],
  [50, 4896.46, 10.11, 19, 28, 33],
  [100, 4989.48, 19.93, 34, 38, 44],
  [500, 4756.01, 104.95, 131, 143, 160],
  [800, 4566.6, 174.97, 210, 225, 259],
  [1000, 4588.9, 217.79, 279, 293, 321],
]

const PLAIN_4: readonly Row[] = [
  [100, 9795.19, 10.08, 22, 30, 37],
  [500, 9273.67, 53.76, 74, 78, 87],
  [800, 9055.49, 88.17, 105, 112, 136],
  [1000, 9107.1, 109.62, 136, 147, 166],
]

const SET_HEADER_4: readonly Row[] = [
  [100, 8411.27, 11.76, 26, 31, 40],
  [500, 7956.58, 62.68, 83, 88, 98],
  [800, 7809.48, 102.26, 131, 145, 170],
  [1000, 7847.94, 127.24, 164, 175, 193],
]

/** WSO2 API Platform gateway 1.1.0: an Envoy router with a policy engine beside it; with and without a set-header policy both ways. */
export const WSO2_PLATFORM: Reference = {
  suite: 'wso2-platform',
  product: 'WSO2 API Platform gateway 1.1.0',
  hardware: 'Kubernetes on AWS, gateway runtime with 2 or 4 CPU and 2 GB',
  measuredWith: 'JMeter, closed loop, about 14 minutes, smallest payload',
  points: [
    ...pointsOf(2, false, PLAIN_2),
    ...pointsOf(2, true, SET_HEADER_2),
    ...pointsOf(4, false, PLAIN_4),
    ...pointsOf(4, true, SET_HEADER_4),
  ],
}

function pointsOf(cpus: number, hasSetHeader: boolean, rows: readonly Row[]): ReferencePoint[] {
  return rows.map(([users, perSecond, mean, p90, p95, p99]) => ({
    scenario: `w${cpus}-50b${hasSetHeader ? '-set-header' : ''}`,
    cpus,
    log: 'none',
    method: 'GET',
    bodyBytes: null,
    users,
    kind: 'saturation',
    perSecond,
    latency: published({ mean, p90, p95, p99 }),
  }))
}
