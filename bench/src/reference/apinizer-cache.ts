import type { Tier } from '../model/scenario.js'
import { published, type Reference } from './reference-point.js'

const PEAKS: readonly { readonly tier: Tier; readonly get: number; readonly put: number }[] = [
  { tier: 'W1', get: 2169, put: 1974 },
  { tier: 'W2', get: 5037, put: 3673 },
  { tier: 'W4', get: 7896, put: 6632 },
  { tier: 'W8', get: 13_619, put: 13_069 },
]

/** The cache component of Apinizer (March 2026): the best figure of each tier, without connections or latencies. */
export const APINIZER_CACHE: Reference = {
  suite: 'apinizer-cache',
  product: 'Apinizer cache (report v1)',
  hardware: '12 vCPU Intel Broadwell 2.0 GHz, one Kubernetes pod of 1, 2, 4 or 8 CPU',
  measuredWith: 'wrk2 at overload, one run of 300 s',
  points: PEAKS.flatMap(({ tier, get, put }) => [peak(tier, 'GET', get), peak(tier, 'PUT', put)]),
}

function peak(tier: Tier, method: 'GET' | 'PUT', perSecond: number): Reference['points'][number] {
  return {
    scenario: `${tier.toLowerCase()}-${method.toLowerCase()}`,
    cpus: Number(tier.slice(1)),
    log: 'none',
    method,
    bodyBytes: null,
    users: null,
    kind: 'saturation',
    perSecond,
    latency: published({}),
  }
}
