import { formatSize } from '@sluice/core'
import { TIERS } from '../model/scenario.js'
import type { LogMode, Summary } from '../model/summary.js'
import type { CostPoint, PolicyCost } from '../report/cost.js'
import { countText, isValid, requestText, significant } from '../report/figures.js'
import { groupedBy, isPlainProxy } from '../report/relations.js'
import { connectionMemory, measurementsOf } from './measurements.js'

/** The load that somebody expects. */
export interface CapacityQuery {
  readonly perSecond: number
  /** Of the request; 0: none. */
  readonly bodyBytes: number
  readonly policies: readonly string[]
  /** Of clients, open at the same time; 0: no more than the load itself takes. */
  readonly connections: number
}

/** The share left free, so that a burst, a restart or a slow neighbour is no outage. */
const HEADROOM = 0.3
/** Sizes this near to each other are the same: 1 KB is 1,000 bytes to some. */
const SAME_SIZE = 0.05
/** One pod may fail at any hour; half as many again than the peak takes are for a peak that nobody expected. */
const LEAST_PODS = 2
const SURPRISE = 1.5

/** What a load needs, from measured points. @throws Error when the runs cannot be put together */
export function capacityFor(summaries: readonly Summary[], query: CapacityQuery) {
  const { points, policyCosts, host } = measurementsOf(summaries)
  const proxies = points.filter(isPlainProxy)
  // A request without a body costs less than any with one, so neither speaks for the other.
  const alike = proxies.filter(({ method }) => (method === 'GET') === (query.bodyBytes === 0))
  // The traffic log counts where it was measured, because it is on in production.
  const log: LogMode = alike.some((point) => point.log === 'elasticsearch') ? 'elasticsearch' : 'none'
  const logged = alike.filter((point) => point.log === log)
  const [missing, notes]: [string[], string[]] = [[], []]
  const proxying = bodyMicros(logged, query.bodyBytes, notes)
  if (proxying === null)
    missing.push(
      `${query.bodyBytes === 0 ? 'a GET' : 'requests with a body'} without policies: gw bench run apinizer --tier W1`,
    )
  const shares = [{ what: 'passing the request on', micros: proxying ?? 0 }]
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
  if (query.policies.length > 1) notes.push('policies are taken to cost together what each costs alone')
  const guessed = (size?.guide ?? []).filter(({ isMeasured }) => !isMeasured).map(({ tier }) => tier)
  if (guessed.length > 0)
    notes.push(`${guessed.join(', ')} not measured: extrapolated from the CPU time and the cores`)
  if (log === 'none') notes.push('the traffic log is off in this figure')
  notes.push(
    `measured on ${host.cpuModel}, score ${significant(host.cpuScore)}: scale by the score of the target’s cores`,
  )
  // Without a size the runs do not hold what an answer needs; `missing` says what to measure.
  return { log, size, missing, memory, notes }
}

/**
 * What it costs to pass on a request with such a body: measured, between two measured sizes, or beyond them along the
 * line of the last two. Null: nothing like it was measured.
 */
function bodyMicros(points: readonly CostPoint[], wanted: number, notes: string[]): number | null {
  // Of each size the dearest of the points with the best throughput of each scenario.
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
      `a body of ${formatSize(wanted)} is taken to cost as much as one of ${formatSize(sizes[0]!.bytes)}`,
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

/** The nearest size; of several at that size the dearest. */
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
  const fitting = guide.find(({ upToPerSecond }) => upToPerSecond >= perSecond) ?? guide.at(-1)!
  const room = fitting.memoryBytes * (1 - HEADROOM) - (memory?.baseBytes ?? 0)
  const crowded = Math.ceil(((connections / 1000) * (memory?.perThousandBytes ?? 0)) / room)
  const replicas = Math.max(1, Math.ceil(perSecond / fitting.upToPerSecond - 1e-9), crowded)
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

/** What each tier does, with headroom, with requests of such a cost, from how much of its cores' time it turned into requests. */
function tierGuide(points: readonly CostPoint[], microsPerRequest: number) {
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

/** An answer for a terminal. */
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
    `${countText(perSecond)} ${request} a second, ${logText}: ${tier} × ${replicas}`,
    `${significant(cores)} cores with ${HEADROOM * 100} % headroom at ${significant(microsPerRequest)} µs a request`,
    ...shares.map(({ what, micros }) => `  ${significant(micros)} µs ${what}`),
    `autoscaler: ${autoscaler.minReplicas} to ${autoscaler.maxReplicas} pods, more from ${autoscaler.averageUtilization} % of their CPU on`,
    ...guide.map(
      (row) =>
        `up to ${countText(row.upToPerSecond)} a second: ${row.tier} (${formatSize(row.memoryBytes)}${row.isMeasured ? '' : ', extrapolated'})`,
    ),
    ...(memory === null
      ? []
      : [
          `memory: ${formatSize(Math.round(memory.baseBytes))} and ${formatSize(Math.round(memory.perThousandBytes))} for each 1,000 connections under load`,
        ]),
    ...notes.map((note) => `note: ${note}`),
  ]
}
