import type { MetricKind, Sample } from './sample.js'

/**
 * Sums the metrics of all workers. Counters and histograms of exited workers stay in the sum, so that a
 * series never goes backwards. Gauges end with their worker.
 */
export class SampleLedger {
  /** Metrics of exited workers, by `name{labels}`. */
  readonly #retired = new Map<string, Sample>()

  /** Keeps the last counters and histograms of an exited worker. */
  retire(samples: readonly Sample[]): void {
    for (const sample of samples) {
      if (kindOf(sample.name) === 'gauge') continue
      const isKept = this.#retired.size < MAX_RETIRED || this.#retired.has(keyOf(sample))
      add(this.#retired, isKept ? sample : { ...sample, labels: otherLabels(sample.labels) })
    }
  }

  /** Returns the sum over exited workers and the given ones, in the order in which series were first seen. */
  merged(live: Iterable<readonly Sample[]>): Sample[] {
    const sums = new Map(this.#retired)
    for (const samples of live) {
      for (const sample of samples) add(sums, sample)
    }
    return [...sums.values()]
  }
}

/**
 * Returns the kind of a metric by its name: `_total` is a counter; `_bucket`, `_sum` and `_count` belong to a
 * histogram; anything else is a gauge. Workers and supervisor rely on these names, so no table has to be kept
 * in sync.
 */
export function kindOf(name: string): MetricKind {
  if (name.endsWith('_total')) return 'counter'
  return familyOf(name) === name ? 'gauge' : 'histogram'
}

/** Returns the metric of a sample: its name without a histogram suffix. */
export function familyOf(name: string): string {
  for (const suffix of ['_bucket', '_sum', '_count']) {
    if (name.endsWith(suffix)) return name.slice(0, -suffix.length)
  }
  return name
}

/**
 * Maximum number of series kept for exited workers. Routes that come and go with reloads must not grow the
 * table forever. Further series are added up with the label value "other".
 */
const MAX_RETIRED = 500_000

/** Replaces all label values, except the bounds of buckets. */
function otherLabels(labels: string): string {
  return labels.replace(/(\w+)="(?:[^"\\]|\\.)*"/g, (pair, name) =>
    name === 'le' ? pair : `${name}="other"`,
  )
}

function keyOf({ name, labels }: Sample): string {
  return `${name}{${labels}}`
}

function add(sums: Map<string, Sample>, sample: Sample): void {
  const key = keyOf(sample)
  const known = sums.get(key)
  if (known === undefined) sums.set(key, sample)
  else {
    // The newer exemplar stays.
    const newer = (known.exemplar?.atS ?? 0) > (sample.exemplar?.atS ?? 0) ? known : sample
    sums.set(key, { ...newer, value: known.value + sample.value })
  }
}
