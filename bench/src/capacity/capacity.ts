import { formatSize } from '@sluice/core'
import { TIERS } from '../model/scenario.js'
import type { LogMode, Summary } from '../model/summary.js'
import type { CostPoint, PolicyCost } from '../report/cost.js'
import { countText, isValid, requestText, significant } from '../report/figures.js'
import { groupedBy, isPlainProxy } from '../report/relations.js'
import { connectionMemory, measurementsOf } from './measurements.js'

/** The expected load. */
export interface CapacityQuery {
  readonly perSecond: number
  /** Size of the request body in bytes. 0 for none. */
  readonly bodyBytes: number
  readonly policies: readonly string[]
  /** Concurrent client connections. 0 for the number that the load needs. */
  readonly connections: number
}

/** Share of capacity to keep free for bursts, restarts and noisy neighbours. */
const HEADROOM = 0.3
/** Maximum relative difference of equal sizes: 1 KB is 1,000 bytes to some. */
const SAME_SIZE = 0.05
/** Minimum number of pods: one may fail at any time. */
const LEAST_PODS = 2
const SURPRISE = 1.5

/** Returns the capacity for a load, from measured points. @throws Error if the runs cannot be combined */
export function capacityFor(summaries: readonly Summary[], query: CapacityQuery) {
  const { points, policyCosts, host } = measurementsOf(summaries)
  const proxies = points.filter(isPlainProxy)
  // Requests without a body cost less than any with one, so they are not compared.
  const alike = proxies.filter(({ method }) => (method === 'GET') === (query.bodyBytes === 0))
  // The traffic log counts if it was measured, because it is on in production.
  const log: LogMode = alike.some((point) => point.log === 'elasticsearch') ? 'elasticsearch' : 'none'
  const logged = alike.filter((point) => point.log === log)
  const [missing, notes]: [string[], string[]] = [[], []]
  const proxying = bodyMicros(logged, query.bodyBytes, notes)
  if (proxying === null)
    missing.push(
      `${query.bodyBytes === 0 ? 'a GET' : 'requests with a body'} without policies: gw bench run apinizer --tier W1`,
    )
  const shares = [{ what: 'forwarding the request', micros: proxying ?? 0 }]
  for (const policy of query.policies) {
    const cost = nearestCost(policy, policyCosts, query.bodyBytes)
    if (cost === null) missing.push(`the policy ${policy}: gw bench policy ${policy}`)
    else
      shares.push({
        what: `${policy}, measured with ${requestText(cost.withPolicy)}`,
        micros: Math.max(0, cost.addedMicros),
      })
  }
  const memory = connectionMemory(proxies)
  const size = missing.length > 0 ? null : sizeOf(logged, shares, query, memory)
  if (query.policies.length > 1) notes.push('assumes that the policies cost the same together as one by one')
  const guessed = (size?.guide ?? []).filter(({ isMeasured }) => !isMeasured).map(({ tier }) => tier)
  if (guessed.length > 0)
    notes.push(
      `${guessed.join(', ')} not measured: extrapolated. Assumes that throughput grows with the number of cores, although each request costs more with more workers`,
    )
  if (log === 'none') notes.push('the traffic log is off in this figure')
  notes.push(
    `measured on ${host.cpuModel} with CPU score ${significant(host.cpuScore)}. For another machine, scale by the CPU score in its reports`,
  )
  // Without a size the runs lack required points. `missing` says what to measure.
  return { log, size, missing, memory, notes }
}

/**
 * Returns the cost of a request with a body of this size: measured, interpolated, or extrapolated from the last two
 * sizes. Null if nothing similar was measured.
 */
function bodyMicros(points: readonly CostPoint[], wanted: number, notes: string[]): number | null {
  // For each size, the most expensive of the points with the best throughput of each scenario.
  const best = groupedBy(points, ({ suite, scenario }) => `${suite} ${scenario}`).map((group) =>
    group.reduce((one, other) => (other.perSecond.mean > one.perSecond.mean ? other : one)),
  )
  const sizes = groupedBy(best, ({ bodyBytes }) => String(bodyBytes))
    .map((group) => ({
      bytes: group[0]!.bodyBytes,
      micros: Math.max(...group.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest.mean)),
    }))
    .toSorted((a, b) => a.bytes - b.bytes)
  const exact = sizes.find(({ bytes }) => Math.abs(bytes - wanted) <= bytes * SAME_SIZE)
  if (exact !== undefined || sizes.length === 0) return exact?.micros ?? null
  const above = sizes.findIndex(({ bytes }) => bytes > wanted)
  const [small, large] = above > 0 ? sizes.slice(above - 1, above + 1) : sizes.slice(-2)
  if (above === 0 || large === undefined) {
    notes.push(
      `assumes that a body of ${formatSize(wanted)} costs as much as one of ${formatSize(sizes[0]!.bytes)}`,
    )
    return sizes[0]!.micros
  }
  const how = above > 0 ? 'interpolated' : 'EXTRAPOLATED'
  notes.push(
    `the cost of ${formatSize(wanted)} is ${how} from ${formatSize(small!.bytes)} and ${formatSize(large.bytes)}`,
  )
  const slope = Math.max(0, (large.micros - small!.micros) / (large.bytes - small!.bytes))
  return small!.micros + slope * (wanted - small!.bytes)
}

/** Returns the cost at the nearest size, or the highest of several at that size. */
function nearestCost(policy: string, costs: readonly PolicyCost[], bodyBytes: number): PolicyCost | null {
  const gap = ({ withPolicy }: PolicyCost): number => Math.abs(withPolicy.bodyBytes - bodyBytes)
  const own = costs.filter((cost) => cost.policy === policy)
  return own.toSorted((a, b) => gap(a) - gap(b) || b.addedMicros - a.addedMicros)[0] ?? null
}

function sizeOf(
  points: readonly CostPoint[],
  shares: readonly { readonly what: string; readonly micros: number }[],
  { perSecond, connections }: CapacityQuery,
  memory: ReturnType<typeof connectionMemory>,
) {
  const microsPerRequest = shares.reduce((sum, { micros }) => sum + micros, 0)
  const guide = tierGuide(points.filter(isValid), microsPerRequest)
  const fitting = fittingTier(guide, perSecond)
  const room = fitting.memoryBytes * (1 - HEADROOM) - (memory?.baseBytes ?? 0)
  const crowded = Math.ceil(((connections / 1000) * (memory?.perThousandBytes ?? 0)) / room)
  const replicas = Math.max(fitting.replicas, crowded)
  const minReplicas = Math.max(LEAST_PODS, Math.ceil(replicas / 2))
  return {
    tier: fitting.tier,
    replicas,
    cores: (perSecond * microsPerRequest) / 1_000_000 / (1 - HEADROOM),
    ...{ microsPerRequest, shares, guide },
    autoscaler: {
      averageUtilization: Math.round((1 - HEADROOM) * 100),
      minReplicas,
      maxReplicas: Math.max(minReplicas + 1, Math.ceil(replicas * SURPRISE)),
    },
  }
}

/** Returns the throughput of each tier with headroom, for requests of a given cost and the measured use of cores. */
export function tierGuide(points: readonly CostPoint[], microsPerRequest: number) {
  const yieldOf = ({ perSecond, cpuMicrosPerRequest, workers }: CostPoint): number =>
    (perSecond.mean * cpuMicrosPerRequest.mean) / (workers * 1_000_000)
  const least = Math.min(1, ...points.map(yieldOf))
  return TIERS.map(({ tier, cores, memoryBytes }) => {
    const own = points.filter((point) => point.tier === tier)
    const share = own.length === 0 ? least : Math.min(1, Math.max(...own.map(yieldOf)))
    const upToPerSecond = ((cores * 1_000_000 * share) / microsPerRequest) * (1 - HEADROOM)
    return { tier, memoryBytes, upToPerSecond, isMeasured: own.length > 0 }
  })
}

/** Formats the throughput of each tier. */
export function guideLines(guide: ReturnType<typeof tierGuide>, unit: string): string[] {
  return guide.map(
    (row) =>
      `up to ${countText(row.upToPerSecond)} ${unit}: ${row.tier} (${formatSize(row.memoryBytes)}${row.isMeasured ? '' : ', extrapolated'})`,
  )
}

/** Returns the smallest tier for a load, or the largest, with the number of pods. */
export function fittingTier(guide: ReturnType<typeof tierGuide>, perSecond: number) {
  const fitting = guide.find(({ upToPerSecond }) => upToPerSecond >= perSecond) ?? guide.at(-1)!
  return { ...fitting, replicas: Math.max(1, Math.ceil(perSecond / fitting.upToPerSecond - 1e-9)) }
}

/** Formats an answer for a terminal. */
export function capacityLines(
  { perSecond, bodyBytes }: CapacityQuery,
  answer: ReturnType<typeof capacityFor>,
): string[] {
  const { log, size, missing, memory, notes } = answer
  if (size === null)
    return ['no answer: this has to be measured first', ...missing.map((what) => `  ${what}`)]
  const { tier, replicas, cores, microsPerRequest, shares, guide, autoscaler } = size
  const request = bodyBytes === 0 ? 'GET' : `POST of ${formatSize(bodyBytes)}`
  const logText = log === 'none' ? 'traffic log off' : 'traffic log in Elasticsearch'
  return [
    `${countText(perSecond)} ${request}/s, ${logText}: ${tier} × ${replicas}`,
    `${significant(cores)} cores with ${HEADROOM * 100} % headroom at ${significant(microsPerRequest)} µs per request`,
    ...shares.map(({ what, micros }) => `  ${significant(micros)} µs ${what}`),
    `autoscaler: ${autoscaler.minReplicas} to ${autoscaler.maxReplicas} pods, target CPU utilization ${autoscaler.averageUtilization} %`,
    ...guideLines(guide, 'requests/s'),
    ...(memory === null
      ? []
      : [
          `memory: ${formatSize(Math.round(memory.baseBytes))}, plus ${formatSize(Math.round(memory.perThousandBytes))} per 1,000 connections under load`,
        ]),
    ...notes.map((note) => `note: ${note}`),
  ]
}
