import type { Exchange } from '@sluice/core'
import { Histogram } from './histogram.js'
import type { Sample } from './sample.js'
import type { SeriesPool } from './series-pool.js'
import { label } from './text-format.js'

/** Upper bounds of the latency buckets in milliseconds. */
export const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const

/** Values of the label `status`. */
export const CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Returns the index of a status in CLASSES. */
export function classIndex(status: number): number {
  return Math.min(5, (status / 100) | 0)
}

/** Numbers of errors by code. */
export type ErrorCounts = Map<string, { value: number }>

/** Counters of one kind of traffic: requests, errors, durations and bytes. Plain numbers, updated without lookups. */
export class TrafficCounts {
  readonly requests = new Float64Array(CLASSES.length)
  readonly durations = new Histogram(BUCKETS_MS)
  readonly errors: ErrorCounts = new Map()
  requestBytes = 0
  responseBytes = 0

  /** Records a finished request. @param errors bound of the series by code. */
  record(x: Exchange, durationMs: number, errors: SeriesPool<{ value: number }>): void {
    const at = classIndex(x.status)
    this.requests[at] = this.requests[at]! + 1
    this.durations.record(durationMs)
    this.requestBytes += x.requestBytes
    this.responseBytes += x.responseBytes
    if (x.errorCode !== '') errors.valueIn(this.errors, x.errorCode).value++
  }

  /** Adds errors by code. */
  addErrors(errors: Iterable<readonly [code: string, count: { readonly value: number }]>): void {
    for (const [code, { value }] of errors) {
      const known = this.errors.get(code)
      if (known === undefined) this.errors.set(code, { value })
      else known.value += value
    }
  }

  /** @param family start of the metric names, such as `gw_worker`. */
  samples(family: string, labels: string): Sample[] {
    const samples: Sample[] = [
      { name: `${family}_request_bytes_total`, labels, value: this.requestBytes },
      { name: `${family}_response_bytes_total`, labels, value: this.responseBytes },
      ...this.durations.samples(`${family}_request_duration_seconds`, labels),
    ]
    CLASSES.forEach((status, at) => {
      const value = this.requests[at]!
      if (value > 0)
        samples.push({ name: `${family}_requests_total`, labels: `${labels},status="${status}"`, value })
    })
    for (const [code, { value }] of this.errors)
      samples.push({ name: `${family}_errors_total`, labels: `${labels},${label('code', code)}`, value })
    return samples
  }
}
