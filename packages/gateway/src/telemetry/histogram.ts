import type { Exemplar, Sample } from './sample.js'

/** Counts of durations in buckets: plain numbers, updated without lookups. */
export class Histogram {
  readonly #boundsMs: readonly number[]
  // Doubles, because 32 bits overflow after a day at 50,000 requests per second.
  readonly #counts: Float64Array
  #sumMs = 0

  /** @param boundsMs upper bounds of the buckets in milliseconds, ascending. */
  constructor(boundsMs: readonly number[]) {
    this.#boundsMs = boundsMs
    this.#counts = new Float64Array(boundsMs.length + 1)
  }

  /** True until the first duration. */
  get isEmpty(): boolean {
    return this.#counts.every((count) => count === 0)
  }

  /** Counts a duration. Returns the index of its bucket. */
  record(ms: number): number {
    const bounds = this.#boundsMs
    let bucket = 0
    while (bucket < bounds.length && ms > bounds[bucket]!) bucket++
    this.#counts[bucket] = this.#counts[bucket]! + 1
    this.#sumMs += ms
    return bucket
  }

  /** Adds the durations of a histogram with the same bounds. */
  add(other: Histogram): void {
    other.#counts.forEach((count, bucket) => {
      this.#counts[bucket] = this.#counts[bucket]! + count
    })
    this.#sumMs += other.#sumMs
  }

  /**
   * Returns the histogram in seconds.
   * @param exemplars newest exemplar of each bucket, if there are any.
   */
  samples(name: string, labels: string, exemplars: readonly (Exemplar | undefined)[] = []): Sample[] {
    const bounds = this.#boundsMs
    let count = 0
    const samples: Sample[] = []
    for (let i = 0; i <= bounds.length; i++) {
      count += this.#counts[i]!
      const bound = i === bounds.length ? '+Inf' : String(bounds[i]! / 1000)
      const sample = { name: `${name}_bucket`, labels: `${labels},le="${bound}"`, value: count }
      const exemplar = exemplars[i]
      samples.push(exemplar === undefined ? sample : { ...sample, exemplar })
    }
    samples.push({ name: `${name}_sum`, labels, value: this.#sumMs / 1000 })
    samples.push({ name: `${name}_count`, labels, value: count })
    return samples
  }
}
