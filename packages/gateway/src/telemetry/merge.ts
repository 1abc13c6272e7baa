import type { MetricKind, Sample } from './sample.js'

/**
 * The numbers of all workers as one list. Counters and histograms of workers that have ended stay in the sum, so
 * that a series never goes backwards when a worker is replaced; gauges end with their worker.
 */
export class SampleLedger {
  /** `name{labels}` to what ended workers have counted. */
  readonly #departed = new Map<string, Sample>()

  /** Keeps what a worker had counted when it was last heard. */
  depart(samples: readonly Sample[]): void {
    for (const sample of samples) {
      if (kindOf(sample.name) === 'gauge') continue
      if (this.#departed.size < MAX_DEPARTED) add(this.#departed, sample)
    }
  }

  /** The sum over ended workers and the given ones; a series stands where it was first seen. */
  merged(live: Iterable<readonly Sample[]>): Sample[] {
    const sums = new Map(this.#departed)
    for (const samples of live) {
      for (const sample of samples) add(sums, sample)
    }
    return [...sums.values()]
  }
}

/**
 * The kind that follows from a name: `_total` counts, `_bucket`, `_sum` and `_count` belong to a histogram, all else is a
 * gauge. Naming is the contract between worker and supervisor, so that no table has to be kept in step.
 */
export function kindOf(name: string): MetricKind {
  if (name.endsWith('_total')) return 'counter'
  return familyOf(name) === name ? 'gauge' : 'histogram'
}

/** The family of a sample's name: a histogram's without its suffix, any other as it is. */
export function familyOf(name: string): string {
  for (const suffix of ['_bucket', '_sum', '_count']) {
    if (name.endsWith(suffix)) return name.slice(0, -suffix.length)
  }
  return name
}

/** Series of ended workers kept at most; routes that come and go with reloads must not grow the table for ever. */
const MAX_DEPARTED = 500_000

function add(sums: Map<string, Sample>, sample: Sample): void {
  const key = `${sample.name}{${sample.labels}}`
  const known = sums.get(key)
  sums.set(key, known === undefined ? sample : { ...known, value: known.value + sample.value })
}
