import type { AttemptTrace, Counter, Exchange } from '@sluice/core'
import { ConsumerMetrics } from './consumer-metrics.js'
import { Exemplars } from './exemplars.js'
import { Histogram } from './histogram.js'
import type { Sample } from './sample.js'
import { SeriesPool } from './series-pool.js'
import { label } from './text-format.js'
import { BUCKETS_MS, CLASSES, classIndex, type ErrorCounts, TrafficCounts } from './traffic-counts.js'

/** Upper bounds of the buckets for policies, which take microseconds or wait for another server. */
const POLICY_BUCKETS_MS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 25, 100, 500, 2500] as const

/**
 * Policies are timed in one of this many requests of a route. Timing takes 0.1 µs per policy and phase, which would be 2 µs for ten policies.
 */
const SAMPLED_OF = 16

/** Maximum number of errors by route, code and policy, and of durations by route and policy. */
const MAX_ERRORS = 10_000
const MAX_POLICIES = 5000

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'] as const

/** Series of all routes of a worker whose labels other than the route vary. */
interface RouteSeries {
  readonly errors: SeriesPool<{ value: number }>
  readonly policyErrors: SeriesPool<{ value: number }>
  readonly policies: SeriesPool<Histogram>
}

/** Creates the pools of a worker. Routes and codes of errors together are bounded, and so are routes and policies. */
function routeSeries(): RouteSeries {
  return {
    errors: new SeriesPool(MAX_ERRORS, () => ({ value: 0 })),
    policyErrors: new SeriesPool(MAX_ERRORS, () => ({ value: 0 })),
    policies: new SeriesPool(MAX_POLICIES, () => new Histogram(POLICY_BUCKETS_MS)),
  }
}

/** Counters of one route in one worker: plain numbers, updated without lookups. */
export class RouteMetrics {
  // Doubles, because 32 bits overflow after a day at 50,000 requests per second.
  readonly #requests = new Float64Array(METHODS.length * CLASSES.length)
  readonly #durations = new Histogram(BUCKETS_MS)
  readonly #exemplars = new Exemplars(BUCKETS_MS.length + 1)
  readonly #errors: ErrorCounts = new Map()
  /** Errors by the labels of policy and code. */
  readonly #policyErrors: ErrorCounts = new Map()
  readonly #policies = new Map<string, Histogram>()
  readonly #series: RouteSeries
  #requestBytes = 0
  #responseBytes = 0
  /** Number of requests so far, for sampling. */
  #started = 0

  constructor(series = routeSeries()) {
    this.#series = series
  }

  /** Returns true for the requests whose policies are timed: the first one, then one of SAMPLED_OF. */
  isPolicySample(): boolean {
    return this.#started++ % SAMPLED_OF === 0
  }

  /**
   * Records a finished request.
   * @param durationMs time from the request's arrival to the last byte of its response.
   */
  record(x: Exchange, durationMs: number): void {
    const at = methodIndex(x.method) * CLASSES.length + classIndex(x.status)
    this.#requests[at] = this.#requests[at]! + 1
    this.#exemplars.offer(x, this.#durations.record(durationMs), durationMs)
    this.#requestBytes += x.requestBytes
    this.#responseBytes += x.responseBytes
    if (x.errorCode !== '') this.#countError(x)
    if (x.record.policyTrace?.isPartial === false) this.#recordPolicies(x.record.policyTrace)
  }

  /** Counts an error of the gateway. */
  countError(code: string): void {
    this.#series.errors.valueIn(this.#errors, code).value++
  }

  #countError({ errorCode, errorPolicy }: Exchange): void {
    this.countError(errorCode)
    if (errorPolicy === '') return
    const labels = `${label('policy', errorPolicy)},${label('code', errorCode)}`
    this.#series.policyErrors.valueIn(this.#policyErrors, labels).value++
  }

  #recordPolicies({ policies }: AttemptTrace): void {
    for (const { id, ms, verdict } of policies ?? []) {
      if (verdict !== 'skip') this.#series.policies.valueIn(this.#policies, id).record(ms)
    }
  }

  samples(route: string): Sample[] {
    const labels = `route="${route}"`
    const samples: Sample[] = [
      { name: 'gw_request_bytes_total', labels, value: this.#requestBytes },
      { name: 'gw_response_bytes_total', labels, value: this.#responseBytes },
    ]
    this.#requests.forEach((value, at) => {
      if (value === 0) return
      const method = METHODS[Math.floor(at / CLASSES.length)]!
      const status = CLASSES[at % CLASSES.length]!
      samples.push({
        name: 'gw_requests_total',
        labels: `${labels},method="${method}",status="${status}"`,
        value,
      })
    })
    samples.push(...this.#durations.samples('gw_request_duration_seconds', labels, this.#exemplars.newest))
    for (const [code, { value }] of this.#errors) samples.push(errorSample(labels, code, value))
    for (const [pair, { value }] of this.#policyErrors)
      samples.push({ name: POLICY_ERRORS, labels: `${labels},${pair}`, value })
    for (const [id, durations] of this.#policies) samples.push(...policySamples(labels, id, durations))
    return samples
  }

  /** Adds the counters to those of the worker. */
  addTo(total: TrafficCounts): void {
    this.#requests.forEach((count, at) => {
      const status = at % CLASSES.length
      total.requests[status] = total.requests[status]! + count
    })
    total.durations.add(this.#durations)
    total.requestBytes += this.#requestBytes
    total.responseBytes += this.#responseBytes
    total.addErrors(this.#errors)
  }
}

function errorSample(route: string, code: string, value: number): Sample {
  return { name: 'gw_errors_total', labels: `${route},${label('code', code)}`, value }
}

function policySamples(route: string, id: string, durations: Histogram): Sample[] {
  return durations.samples('gw_policy_duration_seconds', `${route},${label('policy', id)}`)
}

function methodIndex(method: string): number {
  switch (method) {
    case 'GET':
      return 0
    case 'HEAD':
      return 1
    case 'POST':
      return 2
    case 'PUT':
      return 3
    case 'PATCH':
      return 4
    case 'DELETE':
      return 5
    case 'OPTIONS':
      return 6
    default:
      return 7
  }
}

/** Maximum number of routes with their own counters. Further routes are counted under "other". */
const MAX_ROUTES = 20_000

/** Maximum number of policy counters. Further ones are counted with the label value "other". */
const MAX_COUNTERS = 20_000

/** Route label of requests that match no route. */
export const NO_ROUTE = '-'
const OTHER_ROUTE = 'route="other"'
const POLICY_ERRORS = 'gw_policy_errors_total'

interface LabelledCounter extends Counter {
  readonly family: string
  readonly labels: string
}

/** The counters of one worker. They survive reloads, so they never decrease. */
export class Metrics {
  readonly #routes = new Map<string, RouteMetrics>()
  readonly #series = routeSeries()
  readonly #counters = new Map<string, LabelledCounter>()
  /** Counters by group of consumers. */
  readonly consumers = new ConsumerMetrics()

  /** Returns the counters of a route, created on first use. */
  route(id: string): RouteMetrics {
    const known = this.#routes.get(id)
    if (known !== undefined) return known
    if (this.#routes.size >= MAX_ROUTES && id !== 'other') return this.route('other')
    const created = new RouteMetrics(this.#series)
    this.#routes.set(id, created)
    return created
  }

  /** Returns a policy's counter, created on first use. */
  counter(family: string, labels: Readonly<Record<string, string>>): Counter {
    const pairs = Object.entries(labels)
    const text = pairs.map(([name, value]) => label(name, value)).join()
    const key = `${family} ${text}`
    const known = this.#counters.get(key)
    if (known !== undefined) return known
    const isOther = pairs.every(([, value]) => value === 'other')
    if (this.#counters.size >= MAX_COUNTERS && !isOther)
      return this.counter(family, Object.fromEntries(pairs.map(([name]) => [name, 'other'])))
    const created: LabelledCounter = { family, labels: text, value: 0 }
    this.#counters.set(key, created)
    return created
  }

  /** Counts an error before a route was found. */
  countUnrouted(code: string): void {
    this.route(NO_ROUTE).countError(code)
  }

  samples(): Sample[] {
    const samples: Sample[] = []
    for (const [id, metrics] of this.#routes) samples.push(...metrics.samples(id))
    const errors = this.#series.errors.other.value
    if (errors > 0) samples.push(errorSample(OTHER_ROUTE, 'other', errors))
    const policyErrors = this.#series.policyErrors.other.value
    if (policyErrors > 0)
      samples.push({
        name: POLICY_ERRORS,
        labels: `${OTHER_ROUTE},policy="other",code="other"`,
        value: policyErrors,
      })
    const { other } = this.#series.policies
    if (!other.isEmpty) samples.push(...policySamples(OTHER_ROUTE, 'other', other))
    for (const { family: name, labels, value } of this.#counters.values()) {
      if (value > 0) samples.push({ name, labels, value })
    }
    samples.push(...this.consumers.samples())
    return samples
  }

  /** Returns the sums over all routes. @param labels those of the worker. */
  workerSamples(labels: string): Sample[] {
    const total = new TrafficCounts()
    for (const metrics of this.#routes.values()) metrics.addTo(total)
    const { other } = this.#series.errors
    if (other.value > 0) total.addErrors([['other', other]])
    return total.samples('gw_worker', labels)
  }
}
