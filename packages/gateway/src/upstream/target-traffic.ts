import { Histogram } from '../telemetry/histogram.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import { BUCKETS_MS, CLASSES, classIndex, type ErrorCounts } from '../telemetry/traffic-counts.js'

/** Counters of a target's responses and failures. Plain numbers, updated without lookups. */
export class TargetTraffic {
  readonly #responses = new Float64Array(CLASSES.length)
  /** Time from sending requests to the heads of their responses. */
  readonly #durations = new Histogram(BUCKETS_MS)
  readonly #errors: ErrorCounts = new Map()
  requestBytes = 0
  responseBytes = 0

  /** Records the head of a response. @param ms time since the request was sent. */
  record(status: number, ms: number): void {
    const at = classIndex(status)
    this.#responses[at] = this.#responses[at]! + 1
    this.#durations.record(ms)
  }

  /** Counts an attempt that failed. */
  countError(code: string): void {
    const known = this.#errors.get(code)
    if (known === undefined) this.#errors.set(code, { value: 1 })
    else known.value++
  }

  samples(labels: string): Sample[] {
    const samples: Sample[] = [
      { name: 'gw_upstream_request_bytes_total', labels, value: this.requestBytes },
      { name: 'gw_upstream_response_bytes_total', labels, value: this.responseBytes },
      ...this.#durations.samples('gw_upstream_duration_seconds', labels),
    ]
    CLASSES.forEach((status, at) => {
      const value = this.#responses[at]!
      if (value > 0)
        samples.push({ name: 'gw_upstream_responses_total', labels: `${labels},status="${status}"`, value })
    })
    for (const [code, { value }] of this.#errors)
      samples.push({ name: 'gw_upstream_errors_total', labels: `${labels},${label('code', code)}`, value })
    return samples
  }
}
