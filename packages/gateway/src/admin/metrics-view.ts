import type { Sample } from '../telemetry/sample.js'

/** Counters of a route, or of all routes. They only grow; readers compute rates from two answers. */
interface Traffic {
  /** Number of requests by status class, such as `2xx`. */
  readonly requests: Record<string, number>
  /** Sum of all durations in seconds. */
  durationSeconds: number
  /** Number of requests per latency bucket, not cumulative. The last bucket has no upper bound. */
  buckets: number[]
}

/** Number of measured runs of a policy, and their duration. */
interface PolicyRuns {
  count: number
  seconds: number
}

/** Response of `GET /v1/metrics`. */
export interface MetricsView {
  readonly at: string
  /** Upper bounds of the latency buckets in seconds. */
  readonly boundsSeconds: readonly number[]
  readonly total: Traffic
  readonly routes: readonly (Traffic & {
    readonly id: string
    readonly errors: Record<string, number>
    /** Measured runs of policies by their id. Policies that are not measured are absent. */
    readonly policies: Record<string, PolicyRuns>
  })[]
  /** Number of errors by code. */
  readonly errors: Readonly<Record<string, number>>
  readonly certificates: readonly { readonly file: string; readonly expiresSeconds: number | null }[]
}

type RouteTraffic = MetricsView['routes'][number]

const LATENCY = 'gw_request_duration_seconds'
const POLICY = 'gw_policy_duration_seconds'

/** Sorts the samples of /metrics by route, for programs that show them. */
export function metricsView(samples: readonly Sample[], at: Date): MetricsView {
  const routes = new Map<string, RouteTraffic>()
  const bounds = new Set<number>()
  const errors: Record<string, number> = {}
  for (const sample of samples) {
    const { name, labels, value } = sample
    if (name === 'gw_errors_total') add(errors, labelIn(labels, 'code'), value)
    const id = labelIn(labels, 'route')
    if (id === '' || !isTraffic(name)) continue
    const route = routes.get(id) ?? { id, ...noTraffic(), errors: {}, policies: {} }
    routes.set(id, route)
    if (name === `${LATENCY}_bucket` && labelIn(labels, 'le') !== '+Inf')
      bounds.add(Number(labelIn(labels, 'le')))
    take(route, sample)
  }
  const list = [...routes.values()].map((route) => ({ ...route, buckets: perBucket(route.buckets) }))
  return {
    at: at.toISOString(),
    boundsSeconds: [...bounds],
    total: totalOf(list),
    routes: list,
    errors,
    certificates: certificatesIn(samples),
  }
}

function isTraffic(name: string): boolean {
  return (
    name === 'gw_requests_total' ||
    name === 'gw_errors_total' ||
    name.startsWith(LATENCY) ||
    name.startsWith(POLICY)
  )
}

function take(route: RouteTraffic, { name, labels, value }: Sample): void {
  if (name === 'gw_requests_total') add(route.requests, labelIn(labels, 'status'), value)
  if (name === 'gw_errors_total') add(route.errors, labelIn(labels, 'code'), value)
  if (name === `${LATENCY}_sum`) route.durationSeconds += value
  if (name === `${LATENCY}_bucket`) route.buckets.push(value)
  if (name === `${POLICY}_count`) runsOf(route, labels).count += value
  if (name === `${POLICY}_sum`) runsOf(route, labels).seconds += value
}

function runsOf({ policies }: RouteTraffic, labels: string): PolicyRuns {
  const id = labelIn(labels, 'policy')
  policies[id] ??= { count: 0, seconds: 0 }
  return policies[id]
}

function noTraffic(): Traffic {
  return { requests: {}, durationSeconds: 0, buckets: [] }
}

function perBucket(cumulative: readonly number[]): number[] {
  return cumulative.map((count, i) => count - (cumulative[i - 1] ?? 0))
}

function totalOf(routes: readonly Traffic[]): Traffic {
  const total = noTraffic()
  for (const { requests, durationSeconds, buckets } of routes) {
    for (const [status, count] of Object.entries(requests)) add(total.requests, status, count)
    total.durationSeconds += durationSeconds
    buckets.forEach((count, i) => {
      total.buckets[i] = (total.buckets[i] ?? 0) + count
    })
  }
  return total
}

function certificatesIn(samples: readonly Sample[]): MetricsView['certificates'] {
  const files = samples.filter(({ name }) => name === 'gw_certificate_broken').map(({ labels }) => labels)
  const expiry = samples.filter(({ name }) => name === 'gw_certificate_expires_seconds')
  return files.map((labels) => ({
    file: labelIn(labels, 'file'),
    expiresSeconds: expiry.find((sample) => sample.labels === labels)?.value ?? null,
  }))
}

function add(sums: Record<string, number>, key: string, value: number): void {
  sums[key] = (sums[key] ?? 0) + value
}

/** Returns the value of a label; empty if absent. Slices, because there may be 200,000 samples. */
function labelIn(labels: string, name: string): string {
  const mark = `${name}="`
  const at = labels.startsWith(mark) ? 0 : labels.indexOf(`,${mark}`) + 1
  if (at === 0 && !labels.startsWith(mark)) return ''
  const start = at + mark.length
  let end = labels.indexOf('"', start)
  while (labels[end - 1] === '\\' && labels[end - 2] !== '\\') end = labels.indexOf('"', end + 1)
  return labels.slice(start, end).replaceAll('\\"', '"').replaceAll('\\\\', '\\')
}
