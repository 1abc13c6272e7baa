import type { Counter, Exchange } from '@sluice/core'
import type { Sample } from './sample.js'
import { label } from './text-format.js'

/** Upper bounds of the latency buckets in seconds. */
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const
const BUCKETS_MS = BUCKETS_S.map((seconds) => seconds * 1000)
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'] as const
const CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Counters of one route in one worker: plain numbers, updated without lookups. */
export class RouteMetrics {
  // Doubles, because 32 bits overflow after a day at 50,000 requests per second.
  readonly #requests = new Float64Array(METHODS.length * CLASSES.length)
  readonly #buckets = new Float64Array(BUCKETS_MS.length + 1)
  #sumMs = 0
  #requestBytes = 0
  #responseBytes = 0

  /**
   * Records a finished request.
   * @param durationMs time from the request's arrival to the last byte of its response.
   */
  record(x: Exchange, durationMs: number): void {
    const at = methodIndex(x.method) * CLASSES.length + Math.min(5, (x.status / 100) | 0)
    this.#requests[at] = this.#requests[at]! + 1
    let bucket = 0
    while (bucket < BUCKETS_MS.length && durationMs > BUCKETS_MS[bucket]!) bucket++
    this.#buckets[bucket] = this.#buckets[bucket]! + 1
    this.#sumMs += durationMs
    this.#requestBytes += x.requestBytes
    this.#responseBytes += x.responseBytes
  }

  samples(route: string): Sample[] {
    const label = `route="${route}"`
    const samples: Sample[] = [
      { name: 'gw_request_bytes_total', labels: label, value: this.#requestBytes },
      { name: 'gw_response_bytes_total', labels: label, value: this.#responseBytes },
    ]
    this.#requests.forEach((value, at) => {
      if (value === 0) return
      const method = METHODS[Math.floor(at / CLASSES.length)]!
      const labels = `${label},method="${method}",status="${CLASSES[at % CLASSES.length]!}"`
      samples.push({ name: 'gw_requests_total', labels, value })
    })
    return samples.concat(this.#histogram(label))
  }

  #histogram(label: string): Sample[] {
    const name = 'gw_request_duration_seconds'
    let count = 0
    const samples: Sample[] = []
    for (let i = 0; i <= BUCKETS_S.length; i++) {
      count += this.#buckets[i]!
      const bound = i === BUCKETS_S.length ? '+Inf' : String(BUCKETS_S[i])
      samples.push({ name: `${name}_bucket`, labels: `${label},le="${bound}"`, value: count })
    }
    samples.push({ name: `${name}_sum`, labels: label, value: this.#sumMs / 1000 })
    samples.push({ name: `${name}_count`, labels: label, value: count })
    return samples
  }
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

interface LabelledCounter extends Counter {
  readonly family: string
  readonly labels: string
}

/** The counters of one worker. They survive reloads, so they never decrease. */
export class Metrics {
  readonly #routes = new Map<string, RouteMetrics>()
  readonly #errors = new Map<string, number>()
  readonly #counters = new Map<string, LabelledCounter>()

  /** Returns the counters of a route, created on first use. */
  route(id: string): RouteMetrics {
    const known = this.#routes.get(id)
    if (known !== undefined) return known
    if (this.#routes.size >= MAX_ROUTES && id !== 'other') return this.route('other')
    const created = new RouteMetrics()
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

  countError(code: string): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1)
  }

  samples(): Sample[] {
    const samples: Sample[] = []
    for (const [id, metrics] of this.#routes) samples.push(...metrics.samples(id))
    for (const [code, value] of this.#errors)
      samples.push({ name: 'gw_errors_total', labels: `code="${code}"`, value })
    for (const { family: name, labels, value } of this.#counters.values()) {
      if (value > 0) samples.push({ name, labels, value })
    }
    return samples
  }
}
