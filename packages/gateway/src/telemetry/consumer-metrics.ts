import type { Exchange } from '@sluice/core'
import type { Sample } from './sample.js'
import { SeriesPool } from './series-pool.js'
import { label } from './text-format.js'
import { TrafficCounts } from './traffic-counts.js'

/** Maximum number of groups with their own counters, and of errors by group and code. */
const MAX_GROUPS = 100
const MAX_ERRORS = 2000

/** Label of consumers without a group. */
const NO_GROUP = '-'

/**
 * Counters of authenticated requests in one worker, by the first group of the consumer. Consumers themselves would be
 * too many for metrics; the traffic log has them.
 */
export class ConsumerMetrics {
  readonly #groups = new Map<string, TrafficCounts>()
  readonly #pool = new SeriesPool(MAX_GROUPS, () => new TrafficCounts())
  readonly #errors = new SeriesPool(MAX_ERRORS, () => ({ value: 0 }))

  /** Records a finished request if its consumer is known. */
  record(x: Exchange, durationMs: number): void {
    if (x.consumer === null) return
    const group = x.consumer.groups[0] ?? NO_GROUP
    this.#pool.valueIn(this.#groups, group).record(x, durationMs, this.#errors)
  }

  samples(): Sample[] {
    const samples: Sample[] = []
    for (const [group, counts] of this.#groups)
      samples.push(...counts.samples('gw_consumer', label('group', group)))
    const { other } = this.#pool
    if (!other.durations.isEmpty) samples.push(...other.samples('gw_consumer', 'group="other"'))
    const { value } = this.#errors.other
    if (value > 0)
      samples.push({ name: 'gw_consumer_errors_total', labels: 'group="other",code="other"', value })
    return samples
  }
}
