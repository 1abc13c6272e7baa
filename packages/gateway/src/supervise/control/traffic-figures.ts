import type { GatewayState } from '@sluice/control-client'
import { ratesBetween, type Traffic } from '@sluice/core/traffic-rates'
import type { Sample } from '../../telemetry/sample.js'

/** Figures since the measurement before, or null at the first one, and counters. */
type Measured = Pick<GatewayState, 'figures' | 'totals'>

interface Measurement {
  readonly mono: number
  readonly traffic: Traffic
}

/** Measuring takes at most this share of a CPU: many routes have many samples. */
const MAX_SHARE = 0.02
const MAX_PAUSE_MS = 30_000

/** Measures the traffic of the gateway between two reports. */
export class TrafficFigures {
  readonly #samples: () => Promise<readonly Sample[]>
  #last: Measurement | null = null
  #measured: Measured = { figures: null }
  #notBeforeMono = 0

  constructor(samples: () => Promise<readonly Sample[]>) {
    this.#samples = samples
  }

  /** Makes the next call of `measure` measure again: the counters must be from after an activation. */
  renew(): void {
    this.#notBeforeMono = 0
  }

  /** Returns the traffic since the previous measurement. Soon after one, returns the same again. */
  async measure(): Promise<Measured> {
    if (performance.now() < this.#notBeforeMono) return this.#measured
    const usage = process.cpuUsage()
    const samples = await this.#samples()
    const mono = performance.now()
    const { traffic, bounds } = totalTraffic(samples)
    const last = this.#last
    this.#last = { mono, traffic }
    const { user, system } = process.cpuUsage(usage)
    this.#notBeforeMono = mono + Math.min(MAX_PAUSE_MS, (user + system) / 1000 / MAX_SHARE)
    const responses = Object.values(traffic.requests).reduce((sum, count) => sum + count, 0)
    const totals = {
      ...{ responses, errors: traffic.requests['5xx'] ?? 0 },
      ...{ bounds, buckets: [...traffic.buckets] },
    }
    const seconds = last === null ? 0 : (mono - last.mono) / 1000
    const { requests, errors, p99 } = ratesBetween(last?.traffic, traffic, { seconds, bounds })
    const figures = { requestsPerSecond: requests, errorsPerSecond: errors, p99Ms: p99 }
    this.#measured = { figures: last === null ? null : figures, totals }
    return this.#measured
  }
}

/** Returns the traffic of all routes together, and the upper bounds of its latency buckets in seconds. */
function totalTraffic(samples: readonly Sample[]): { readonly traffic: Traffic; readonly bounds: number[] } {
  const requests: Record<string, number> = {}
  const cumulative = new Map<number, number>()
  for (const { name, labels, value } of samples) {
    if (name === 'gw_requests_total') {
      const status = /status="([^"]*)"/.exec(labels)?.[1] ?? ''
      requests[status] = (requests[status] ?? 0) + value
    } else if (name === 'gw_request_duration_seconds_bucket') {
      const text = /le="([^"]*)"/.exec(labels)?.[1] ?? ''
      const bound = text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text)
      cumulative.set(bound, (cumulative.get(bound) ?? 0) + value)
    }
  }
  const sorted = [...cumulative].sort(([a], [b]) => a - b)
  const buckets = sorted.map(([, count], i) => count - (sorted[i - 1]?.[1] ?? 0))
  const bounds = sorted.map(([bound]) => bound).filter(Number.isFinite)
  return { traffic: { requests, buckets }, bounds }
}
